#!/usr/bin/env python3
"""Whether what `oomplan fix` promises holds: the patched plans, run by the oracle on a card of that size.

    bench/accuracy/fix_against_oracle.py --oracle FOLDER [--program build/release/oomplan] [--only NAME]

The oracle (tests/data/oracle/README.md says what it is, and what it needs installed) runs the frameworks' own code and
records every allocation. For each plan that does not fit its card, `oomplan fix --apply` changes the config, the oracle
runs what the changed config says, and its allocations are played through the allocator on the card. The table is that of
docs/ladder.md; exit is 1 where a promise does not hold. Fixes that the oracle cannot run are forbidden.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = json.loads((ROOT / "tests/data/oracle/models.json").read_text())
NOT_RUN = ["flash-attention", "paged-adamw", "paged-adamw-8bit", "adafactor", "packed-rows"]
WITHIN = 0.5  # per cent of the peak
OPTIMIZERS = {"adamw_foreach": "adamw", "adamw_for_each": "adamw_forloop", "adamw_fused": "adamw_fused",
              "adamw_8bit": "adamw8bit", "sgd": "sgd"}
LORA = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def plan(model, gpu, **facts):
    return {"gpu": gpu, "facts": {
        "model": model, "micro_batch_size": 1, "sequence_length": 512, "gradient_accumulation_steps": 1,
        "padding_mask": False, "weights_dtype": "fp32", "autocast": "none", "adapter": "none", "lora_rank": 16,
        "lora_targets": ["q_proj", "v_proj"], "lora_dropout": 0.0, "adapter_dtype": "fp32", "quantization": "none",
        "double_quantization": True, "quantization_compute_dtype": "bf16", "quantized_linear": "torch_linear",
        "optimizer": "adamw_foreach", "clip_gradients": False, "gradient_checkpointing": False,
        "reentrant_checkpointing": False, "attention": "sdpa", "outputs_kept": True, "set_grads_to_none": True,
        "use_cache": False, "outputs_to_fp32": False, "loss": "full_logits", "kbit_upcast": False, "fp32_norms": False,
        "fp32_embedding_state": False, **facts}}


PLANS = {
    "gpt2, a large batch": plan("gpt2", "24GiB", micro_batch_size=16, sequence_length=1024),
    "gpt2, small card": plan("gpt2", "6GiB", micro_batch_size=4, sequence_length=1024),
    "gpt2, eager": plan("gpt2", "8GiB", micro_batch_size=4, sequence_length=1024, attention="eager"),
    "gpt2, autocast": plan("gpt2", "8GiB", micro_batch_size=8, sequence_length=1024, autocast="bf16"),
    "gpt2-xl": plan("gpt2-xl", "24GiB", sequence_length=1024),
    "gpt2-xl, autocast": plan("gpt2-xl", "24GiB", micro_batch_size=2, sequence_length=1024, autocast="bf16"),
    "bert-large": plan("bert-large", "16GiB", micro_batch_size=32, sequence_length=512),
    "roberta-base": plan("roberta-base", "10GiB", micro_batch_size=32, sequence_length=512),
    "qwen2.5-0.5b": plan("qwen2.5-0.5b", "24GiB", micro_batch_size=4, sequence_length=2048),
    "qwen2.5-0.5b, autocast": plan("qwen2.5-0.5b", "12GiB", micro_batch_size=2, sequence_length=1024, autocast="bf16"),
    "qwen2.5-0.5b, bf16": plan("qwen2.5-0.5b", "16GiB", micro_batch_size=8, sequence_length=1024, weights_dtype="bf16"),
    "qwen2.5-0.5b, very small card": plan("qwen2.5-0.5b", "6GiB", micro_batch_size=2, sequence_length=1024),
    "qwen3-0.6b": plan("qwen3-0.6b", "16GiB", micro_batch_size=4, sequence_length=1024, autocast="bf16"),
    "qwen3-0.6b, checkpointed": plan("qwen3-0.6b", "12GiB", micro_batch_size=4, sequence_length=1024, autocast="bf16",
                                     gradient_checkpointing=True),
    "llama-3.2-1b": plan("llama-3.2-1b", "24GiB", micro_batch_size=2, sequence_length=1024, autocast="bf16"),
    "llama-3.2-1b, bf16": plan("llama-3.2-1b", "12GiB", micro_batch_size=4, sequence_length=1024, weights_dtype="bf16"),
    "llama-3.2-1b, LoRA": plan("llama-3.2-1b", "8GiB", micro_batch_size=4, sequence_length=1024, weights_dtype="bf16",
                               adapter="lora", lora_targets=LORA),
    "qwen2.5-7b, LoRA": plan("qwen2.5-7b", "24GiB", micro_batch_size=4, sequence_length=1024, weights_dtype="bf16",
                             adapter="lora", lora_targets=LORA),
    "llama-3.1-8b, LoRA": plan("llama-3.1-8b", "24GiB", micro_batch_size=2, sequence_length=2048, weights_dtype="bf16",
                               adapter="lora", lora_targets=LORA, optimizer="adamw_fused"),
    "llama-3.1-8b, bf16": plan("llama-3.1-8b", "24GiB", sequence_length=1024, weights_dtype="bf16"),
    "llama-2-7b, LoRA in fp32": plan("llama-2-7b", "24GiB", sequence_length=1024, adapter="lora"),
    "llama-2-7b, checkpointed": plan("llama-2-7b", "40GiB", micro_batch_size=2, sequence_length=2048, autocast="bf16",
                                     gradient_checkpointing=True, optimizer="adamw_fused"),
}


def yaml(value):
    return json.dumps(value)  # JSON is YAML


def write(folder, facts):
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(MODELS[facts["model"]]["config"]))
    config = folder / "plan.yaml"
    config.write_text("".join(f"{key}: {yaml(value)}\n" for key, value in {**facts, "model": str(model)}.items()))
    return config


def listed(value):
    return [item.strip(' "') for item in value.strip("[]").split(",")]


def read(config, name):
    """The patched facts, as the file has them. Values that oomplan wrote are plain words."""
    facts = dict(line.split(": ", 1) for line in config.read_text().splitlines())
    return {key: listed(value) if value.startswith("[") else value.strip('"') for key, value in facts.items()} | {"model": name}


def targets_of(names):
    return "all-linear" if names == ["all-linear"] else names


def case_of(facts):
    lora, quantized = facts["adapter"] == "lora", facts["quantization"] != "none"
    low = facts["weights_dtype"] == "bf16"
    out = {"model": facts["model"], "micro_batch": int(facts["micro_batch_size"]), "seq_len": int(facts["sequence_length"]),
           "grad_accum": int(facts["gradient_accumulation_steps"]), "optimizer": OPTIMIZERS[facts["optimizer"]],
           "precision": "amp_bf16" if facts["autocast"] == "bf16" else "bf16_pure" if low else "fp32",
           "gradient_checkpointing": facts["gradient_checkpointing"] == "true", "attention": facts["attention"],
           "method": "qlora" if quantized else "lora" if lora else "full", "use_reentrant": False, "base_bf16": low}
    if lora:
        out |= {"lora_r": int(facts["lora_rank"]), "lora_targets": targets_of(facts["lora_targets"]),
                "lora_dropout": float(facts["lora_dropout"]), "adapter_fp32": facts["adapter_dtype"] == "fp32"}
    return out


def run(*command, cwd=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd)


def truth(oracle, folder, case):
    (folder / "case.json").write_text(json.dumps(case))
    done = run(sys.executable, "oracle.py", "--file", folder / "case.json", "--events", folder / "events.npz", cwd=oracle)
    if done.returncode:
        sys.exit(f"the oracle cannot run {case}:\n{done.stderr[-2000:]}")
    events = numpy.load(folder / "events.npz")
    rows = zip(events["kind"].tolist(), events["id"].tolist(), events["size"].tolist())
    with open(folder / "events.txt", "w") as out:
        out.writelines(f"a {slot} {size}\n" if kind else f"f {slot}\n" for kind, slot, size in rows)
    return json.loads(done.stdout.splitlines()[-1])["peak"]


def ends_on(program, folder, gpu, settings):
    beside = sum(term["bytes"] for term in gpu["runtime"])
    done = run(program, "replay", folder / "events.txt", "--capacity", gpu["total"], "--context", beside, "--json",
               f"--alloc-conf={settings}")
    answer = json.loads(done.stdout)
    if answer["verdict"] not in ("fits", "does_not_fit"):
        sys.exit(f"the oracle's events cannot be replayed: {answer['diagnostics'][:3]}")
    return answer["verdict"] == "fits"


def tensors(footprint):
    peak = footprint["peak"]
    return peak["total"] - peak["by_bucket"]["slack"] - peak["by_bucket"]["fragmentation"]


def examine(name, options):
    wanted = PLANS[name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        config = write(folder, wanted["facts"])
        forbidden = [f"--forbid={fix}" for fix in NOT_RUN]
        advice = json.loads(run(options.program, "fix", config, "--gpu", wanted["gpu"], *forbidden, "--json", "--apply",
                                "--yes").stdout)
        if advice["verdict"] != "fixed":
            sys.exit(f"{name}: the answer is {advice['verdict']}: {advice['diagnostics']}")
        answer = json.loads(run(options.program, "estimate", config, "--gpu", wanted["gpu"], "--json").stdout)
        gpu, promised = answer["gpus"][0], tensors(answer["footprint"])
        patched = read(config, wanted["facts"]["model"])
        true = truth(options.oracle, folder, case_of(patched))
        ends = ends_on(options.program, folder, gpu, patched.get("alloc_conf", "default"))
    off = 100 * (promised / true - 1)
    good = ends and abs(off) <= WITHIN and gpu["needed"] == advice["found"]["needed"]
    fixes = ", ".join(fix["id"] + (f" ×{fix['times']}" if fix["times"] > 1 else "") for fix in advice["found"]["fixes"])
    bound = "> " if advice["now"]["at_least"] else ""
    print(f"| {name} | {wanted['gpu']} | {bound}{advice['now']['needed'] / 2**30:.2f} | {fixes} | "
          f"{advice['found']['needed'] / 2**30:.2f} | {promised / 2**30:.3f} | {true / 2**30:.3f} | {off:+.2f} % | "
          f"{'ends' if ends else '**runs out**'} |", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/oomplan")
    parser.add_argument("--oracle", type=Path, required=True)
    parser.add_argument("--only")
    options = parser.parse_args()
    options.program = options.program.resolve()
    print("| plan | card | needs GiB | fixes | then needs | of it tensors | oracle | off | on the card |\n"
          "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | --- |")
    names = [options.only] if options.only else PLANS
    good = [examine(name, options) for name in names]
    print(f"\n{sum(good)} of {len(good)} promises hold")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
