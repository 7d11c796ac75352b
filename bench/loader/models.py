#!/usr/bin/env python3
"""Predicts what a model takes of the host, and measures it with real ranks.

    python3 -m venv .venv && .venv/bin/pip install torch transformers peft
    .venv/bin/python bench/loader/models.py --program build/release/oomplan [--save FILE]
    python3 bench/loader/models.py --program build/release/oomplan --measured tests/data/loader/models.json

Each case is model_job.py in so many processes (gloo, on CPU), with random weights of 300 million parameters in bf16. What a
moment adds to a process's anonymous memory (PSS) is held against the terms of `oomplan estimate --host-ram`, of all ranks
together. A CPU's ranks hold what a GPU would: while saving, the parameter that is gathered; that is in the measured figure.
--least N ends with 1 where fewer are within 10 %. With --measured nothing is run.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 14, "num_attention_heads": 16,
         "num_key_value_heads": 16, "vocab_size": 32000}

# Ranks, dtype of loading, job.
CASES = [(ranks, dtype, "load", "") for ranks in (1, 2, 4) for dtype in ("float32", "float16", "bfloat16")] + [
    (ranks, dtype, "fsdp2", more) for dtype in ("float32", "bfloat16") for ranks, more in ((2, ""), (2, "--lora"), (4, ""))
]
MOMENTS = {"load": "loading", "run": "running", "save": "saving"}
TERMS = {
    "load": ["weights being loaded"],
    "run": ["weights on the host", "gradients on the host", "optimizer's state on the host"],
    "save": ["checkpoint being saved"],
}


def name_of(case):
    ranks, dtype, job, more = case
    return f"{job}, {ranks} rank{'s' if ranks > 1 else ''}, {dtype}{', LoRA' if more else ''}"


def make_model(folder):
    import torch
    import transformers

    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, dtype="bfloat16")).to(torch.bfloat16)
    model.save_pretrained(folder)


def measure(case, model):
    ranks, dtype, job, more = case
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks),
               str(HERE / "model_job.py"), "--model", model, "--dtype", dtype, "--job", job, *more.split()]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=900,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"})
    if done.returncode != 0:
        raise SystemExit(f"{name_of(case)}: {done.stderr[-1000:]}")
    held = json.loads(done.stdout.strip().splitlines()[-1])
    # Another rank than the first only has what the gathering of each parameter takes, of which a GPU has its part.
    return {moment: held[0][moment] if moment == "save" else sum(rank[moment] for rank in held) for moment in held[0]}


def config_of(case, folder):
    """A plain config: what model_job.py does by hand is none of a framework's."""
    ranks, dtype, job, more = case
    config = {"model": folder, "micro_batch_size": 1, "sequence_length": 8, "saves": job != "load",
              "weights_dtype": {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}[dtype],
              "optimizer": "adamw_foreach", "ranks": ranks, "world_size": ranks, "weights_on": "host"}
    if job == "fsdp2":
        config |= {"sharding": "fsdp2", "fsdp_offload": True, "fsdp_pin": False, "fsdp_full_state": True}
    if more:
        config |= {"adapter": "lora", "lora_rank": 16,
                   "lora_targets": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]}
    return config


def predict(case, program):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(
            {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "bfloat16", **SIZES}))
        path = Path(folder, "oomplan.yaml")
        path.write_text(json.dumps(config_of(case, folder)))
        done = subprocess.run([program, "estimate", str(path), "--host-ram", "1TiB", "--json"], stdout=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout)
    out = {}
    for moment, names in TERMS.items():
        terms = [term for term in answer["host"]["terms"] if term["name"] in names]
        out[moment] = sum(term[MOMENTS[moment]] for term in terms)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--measured", help="figures of an earlier run")
    parser.add_argument("--save", help="where to write the figures; those that are there already are not measured again")
    parser.add_argument("--least", type=int, default=0)
    args = parser.parse_args()
    figures = args.measured or args.save
    measured = json.loads(Path(figures).read_text()) if figures and Path(figures).exists() else {}
    print("| case | moment | measured, MB | predicted | off |\n| --- | --- | ---: | ---: | ---: |")
    within = count = 0
    with tempfile.TemporaryDirectory() as folder:
        if not args.measured:
            make_model(folder)
        for case in CASES:
            name = name_of(case)
            if name not in measured:
                measured[name] = measure(case, folder)
                if args.save:
                    Path(args.save).write_text(json.dumps(measured, indent=1) + "\n")
            predicted = predict(case, args.program)
            for moment, bytes_ in measured[name].items():
                # What nothing is predicted of is held against 5 % of the model.
                of = predicted[moment]
                off = (of - bytes_) / bytes_ if of else None
                good = abs(off) <= 0.1 if of else bytes_ < 0.05 * 600e6 * case[0]
                count, within = count + 1, within + good
                print(f"| {name} | {moment} | {bytes_ / 1e6:.1f} | {of / 1e6:.1f} | {f'{off:+.1%}' if of else '–'} |", flush=True)
    print(f"\n{within} of {count} within 10 %")
    return 1 if within < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
