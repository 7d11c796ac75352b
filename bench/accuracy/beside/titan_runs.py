"""Layouts of Llama 3.1 8B and 70B as torchtitan's own configs, which oomplan is asked about: torchtitan estimates its own trainer, whose model,
loss and units are others than those of the measured runs."""

import json
import pathlib
import subprocess
import tempfile

FLAVOURS = {"llama-3.1-8b": "8B", "llama-3.1-70b": "70B"}
RESHARDS = {True: "always", False: "never"}


def config(layout):
    names = {"bf16": "bfloat16", "fp32": "float32"}
    sections = {
        "job": {"dump_folder": "outputs"},
        "model": {"name": "llama3", "flavor": FLAVOURS[layout["model"]]},
        "optimizer": {"name": "AdamW", "implementation": "foreach"},
        "training": {"local_batch_size": layout["micro_batch"], "seq_len": layout["length"], "max_norm": 1.0, "steps": 10, "dataset": "c4",
                     "mixed_precision_param": names[layout["compute"]]},
        "parallelism": {"data_parallel_replicate_degree": layout["replicas"], "data_parallel_shard_degree": -1,
                        "fsdp_reshard_after_forward": RESHARDS.get(layout["reshards"], "default")},
        "activation_checkpoint": {"mode": "full" if layout["checkpoints"] else "none"}}
    lines = []
    for section, keys in sections.items():
        lines += [f"[{section}]"] + [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def ask(layout, program):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "run.toml").write_text(config(layout))
        run = subprocess.run([program, "estimate", "run.toml", "--gpu", f"{layout['world']}xh100-80gb", "--json"], cwd=folder, capture_output=True,
                             text=True, check=False)
    footprint = json.loads(run.stdout).get("footprint") if run.stdout else None
    if not footprint:
        return {"none": "says that it is undecided"}
    peak = footprint["peak"]
    return {"bytes": peak["total"] - sum(peak["by_bucket"][beyond] for beyond in ("slack", "fragmentation", "runtime"))}


def tell(layouts, said, program):
    """Beside what torchtitan says of them."""
    print("\n| torchtitan's own run | torchtitan, shapes apart, GB | oomplan, GB | torchtitan beside it |\n| --- | ---: | ---: | ---: |")
    for layout in layouts:
        theirs = said.get(layout["id"], {}).get("bytes")
        if not theirs or layout["model"] not in FLAVOURS or layout["kind"] != "fsdp2":
            continue
        ours = ask(layout, program).get("bytes")
        print(f"| {layout['id']} | {theirs / 1e9:.2f} | " + (f"{ours / 1e9:.2f} | {100 * (theirs / ours - 1):+.1f} % |" if ours else "undecided | |"))
