"""What torchtitan's scripts/estimate/estimation.py says of each layout on stdin: ask_torchtitan.py CHECKOUT, a checkout that still has the
script (0.2.2), by a Python that has what its requirements.txt lists, triton and a torch for CPUs; without a GPU. The script is run as it is.

With --apart DTensor learns the shapes of results in a FakeTensorMode of its own. Else it does so in the script's, where PyTorch's tracker
counts these results, which have the shapes of whole parameters, as if they were the rank's.
"""

import contextlib
import io
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile

import no_cuda

SCRIPT = "scripts/estimate/estimation.py"


def refusal(layout):
    if layout["kind"] != "fsdp2":
        return "estimates FSDP2 and HSDP"
    if layout["sizes"]["family"] not in ("llama", "mistral", "qwen3"):
        return "has no model with biases of q, k and v"
    if layout["sizes"]["family"] != "qwen3" and layout["sizes"]["tied"]:
        return "has no Llama whose head is its embedding"
    return None


def family(layout):
    return "qwen3" if layout["sizes"]["family"] == "qwen3" else "llama3"


def add_model(layout):
    """Among torchtitan's models of the family, one of these sizes."""
    of = layout["sizes"]
    shared = {"dim": of["hidden"], "n_layers": of["layers"], "n_heads": of["heads"], "n_kv_heads": of["kv_heads"], "vocab_size": of["vocabulary"],
              "max_seq_len": of["longest"]}
    if family(layout) == "qwen3":
        from torchtitan.models.qwen3 import qwen3_args
        from torchtitan.models.qwen3.model.args import Qwen3ModelArgs
        qwen3_args["asked"] = Qwen3ModelArgs(**shared, head_dim=of["head"], hidden_dim=of["ffn"], enable_weight_tying=of["tied"])
        return
    from torchtitan.models.llama3 import TransformerModelArgs, llama3_args
    # Its width of the MLP is 8/3 of the model's, rounded up to a multiple: of the width itself, which is larger in all of these models.
    llama3_args["asked"] = TransformerModelArgs(**shared, multiple_of=of["ffn"])


def options(layout):
    names = {"bf16": "bfloat16", "fp32": "float32"}
    always = {True: "always", False: "never"}.get(layout["reshards"], "default")
    return {"model.name": family(layout), "model.flavor": "asked", "training.local_batch_size": layout["micro_batch"], "training.seq_len": layout["length"],
            "training.dtype": names[layout["held"]], "training.mixed_precision_param": names[layout["compute"]],
            "training.mixed_precision_reduce": "float32", "optimizer.implementation": "foreach",
            "activation_checkpoint.mode": "full" if layout["checkpoints"] else "none",
            "parallelism.data_parallel_replicate_degree": layout["replicas"],
            "parallelism.data_parallel_shard_degree": layout["ranks"] // layout["replicas"], "parallelism.fsdp_reshard_after_forward": always}


def one(layout, checkout, made, apart):
    """In a process of its own, as there is one group of ranks in each."""
    no_cuda.prepare(made)
    no_cuda.install()
    os.environ |= {"WORLD_SIZE": str(layout["ranks"]), "LOCAL_RANK": "0", "RANK": "0"}
    os.chdir(checkout)
    sys.path.insert(0, checkout)
    sys.argv = [SCRIPT, "--memory_estimation.enable"] + [word for name, value in options(layout).items() for word in (f"--{name}", str(value))]
    if layout["offload"]:
        sys.argv.append("--training.enable_cpu_offload")
    add_model(layout)  # Imports torchtitan, which looks at sys.argv as it is imported.
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
    from torch.distributed.tensor import _sharding_prop

    if apart:
        _sharding_prop.detect_fake_mode = lambda *_: None
    peaks = []
    FSDPMemTracker.display_modulewise_snapshots = lambda self, *_, **__: peaks.append(self.get_tracker_snapshot("peak"))
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(SCRIPT, run_name="__main__")
    of_gpu = next(sizes for device, sizes in peaks[-1].items() if device.type == "cuda")
    parts = {getattr(name, "value", str(name)): size for name, size in of_gpu.items()}
    return {"bytes": parts.pop("Total"), "parts": parts}


def ask(layout, checkout, made, apart):
    why = refusal(layout)
    if why:
        return {"none": why}
    run = subprocess.run([sys.executable, __file__, checkout, *apart, "--one", str(made)], input=json.dumps(layout), capture_output=True, text=True,
                         check=False)
    return json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else {"none": f"stops: {run.stderr.strip().splitlines()[-1]}"}


def main():
    checkout, apart = str(pathlib.Path(sys.argv[1]).resolve()), [word for word in sys.argv if word == "--apart"]
    if "--one" in sys.argv:
        print(json.dumps(one(json.load(sys.stdin), checkout, sys.argv[-1], apart)))
        return
    with tempfile.TemporaryDirectory() as folder:
        made = no_cuda.built(folder)
        print(json.dumps({layout["id"]: ask(layout, checkout, made, apart) for layout in json.load(sys.stdin)}))


if __name__ == "__main__":
    main()
