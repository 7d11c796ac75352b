"""What llm-analysis says of each layout on stdin: ask_llm_analysis.py CHECKOUT, by a Python that has fire."""

import json
import logging
import sys

# Of FSDP as its documentation has it: FULL_SHARD is stage 3, SHARD_GRAD_OP stage 2.
STAGES = {"none": 0, "ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp1": 3, "fsdp2": 3, "tp": 0}
LARGE = 10_000  # GB: of no moment to what is asked, but for the time that its search for a batch takes.


def state_bytes(layout):
    """Of a master weight, which a gradient has too, and of the optimizer's other state of one; weights are of 16 bits, or 8, or 4."""
    mixed = layout["held"] == "fp32" or layout["data"].startswith("zero")  # As its defaults have it: fp32 masters and moments beside 16 bits.
    return (4, 8) if mixed else (2, 2)


def answer(layout, analysis, config):
    if layout["offload"]:
        return {"none": "knows no offloading"}
    if layout["compute"] == "fp32":
        return {"none": "knows no weights of 32 bits"}
    of, (master, other) = layout["sizes"], state_bytes(layout)
    model = config.ModelConfig(name=layout["model"], num_layers=of["layers"], n_head=of["heads"], hidden_dim=of["hidden"], vocab_size=of["vocabulary"],
                               max_seq_len=of["longest"], num_key_value_heads=of["kv_heads"], ffn_embed_dim=of["ffn"], mlp_gated_linear_units=True)
    gpu = config.GPUConfig(name="any", mem_per_GPU_in_GB=LARGE, hbm_bandwidth_in_GB_per_sec=3000, intra_node_bandwidth_in_GB_per_sec=400,
                           intra_node_min_message_latency=1e-5, peak_fp16_TFLOPS=900)
    parallel = config.ParallelismConfig(tp_size=layout["tensor"], pp_size=layout["stages"], dp_size=layout["ranks"] // layout["replicas"],
                                        rdp_size=layout["replicas"], sp_size=layout["tensor"] if layout["sequence_parallel"] else 1)
    asked = analysis.LLMAnalysis(model, gpu, config.DtypeConfig(), parallel)
    stage = 2 if layout["keeps"] and layout["data"] == "fsdp1" else STAGES[layout["data"]]
    said = asked.training(batch_size_per_gpu=layout["micro_batch"], gradient_accumulation_steps=layout["micro_batches"], seq_len=layout["length"],
                          activation_recomputation=analysis.ActivationRecomputation(4 if layout["checkpoints"] else 0), ds_zero=analysis.DSZeRO(stage),
                          master_weights_dtype_bytes=master, other_op_bytes=other, fwd_prefetch=stage == 3, bwd_prefetch=stage == 3)
    parts = {"weights": said["weight_memory_per_gpu"], "optimizer": said["optimizer_state_memory_per_gpu"], "gradients": said["gradient_memory_per_gpu"],
             "activations": said["activation_memory_per_gpu"], "gathered": said["estimated_bwd_prefetch_memory_per_gpu"], "loss": said["loss_bwd_memory"],
             "logits": said["activation_memory_output_embedding_per_gpu"]}
    return {"bytes": round(said["estimated_peak_memory_per_gpu"]), "parts": {name: round(size) for name, size in parts.items()},
            "parameters": round(said["num_params_total"])}


def main():
    sys.path.insert(0, sys.argv[1])
    from llm_analysis import analysis, config
    logging.disable(logging.CRITICAL)
    print(json.dumps({layout["id"]: answer(layout, analysis, config) for layout in json.load(sys.stdin)}))


if __name__ == "__main__":
    main()
