"""DeepSpeed's own estimate_zero2/3_model_states_mem_needs for each layout on stdin; to be run by a Python that has deepspeed."""

import json
import sys

from deepspeed.runtime.zero.stage3 import estimate_zero3_model_states_mem_needs as of_stage_3
from deepspeed.runtime.zero.stage_1_and_2 import estimate_zero2_model_states_mem_needs as of_stage_2

GPUS_OF_A_NODE = 8


def answer(layout):
    stage, world = layout["kind"], layout["world"]
    nodes = {"num_gpus_per_node": min(world, GPUS_OF_A_NODE), "num_nodes": max(1, world // GPUS_OF_A_NODE), "cpu_offload": False}
    sizes = layout["sizes"]
    if stage == "zero2":
        return {"bytes": of_stage_2(sizes["parameters"], **nodes)[1]}
    if stage == "zero3":
        return {"bytes": of_stage_3(sizes["parameters"], sizes["embedding"], cpu_offload_params=False, **nodes)[1]}
    return {"none": "has functions for ZeRO's stages 2 and 3"}


def main():
    print(json.dumps({layout["id"]: answer(layout) for layout in json.load(sys.stdin)}))


if __name__ == "__main__":
    main()
