#!/usr/bin/env python3
"""Whether a calibration from one half of measured runs brings the other half's error down.

    bench/accuracy/calibrated.py [--program build/release/oomplan] [--exact EXACT.json] [--published MEASURED.json] [--more MORE.json]

For each source the runs are cut in two halves (every second one); `oomplan calibrate` fits from one, and the reserved
peaks of the other are held against what was measured, as predicted and with the terms; then the other way round. Where the
runs contradict one another there are no terms, and the errors are those without. The runs are those of tests/data/gpu by
trainer, all of them together; with --exact a list of {id, kind, played_mib, measured_mib}; and with --published the rows of
peft's method_comparison/MetaMathQA that are plain LoRA or DoRA, as rows of the longest that it takes (their real ones are shorter),
and those of transformers' guide to one GPU, whose figure is nvidia-smi's: context and reserved together, on a V100 in 2022.
With --more the rows of Qwen's own table (README.md of its first release, 2023) that are LoRA in bf16 on one A100, without and
with embeddings trained; the code of that model is its own, so a Qwen 1.5 of the same sizes stands for it, and what the figures are of
is not said. Where there are fewer than eight only each run by all others is shown.

Prints a row a source: median and 90th percentile of the error before and after, and the medians of each run by all others,
which `oomplan calibrate` gives. Nothing is judged: exits 0.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import on_gpu

MIB = 1 << 20
CARD, TORCH = "NVIDIA H100 80GB HBM3", "2.11.0+cu130"


def records(runs):
    for process, run in enumerate(runs, 1):
        same = {"process": process, "card": CARD, "torch": TORCH}
        yield same | {"what": "prediction", "max_memory_allocated": run["predicted"][0], "max_memory_reserved": run["predicted"][1]}
        used = {"memory_reserved": run["measured"][1], "device_used": run["smi"][1]} if "smi" in run else {}
        yield same | used | {"what": "step", "step": 3, "max_memory_allocated": run["measured"][0], "max_memory_reserved": run["measured"][1]}


def fitted(program, runs):
    """The terms of the one card, or why there are none; both with their errors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records(runs)))
        done = subprocess.run([program, "calibrate", str(path), "--json"], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    return (found["cards"] or [None])[0], (found["unfitted"] or [None])[0]


def error(run, terms):
    allocated, reserved = run["predicted"]
    if terms:
        reserved += terms["residue"] + terms["slack"] * allocated
    if "smi" in run:
        context = terms["context"] if terms else run["smi"][0]
        return abs((context + reserved) / run["smi"][1] - 1) * 100
    return abs(reserved / run["measured"][1] - 1) * 100


def at(values, part):
    values = sorted(values)
    place = part * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def row(program, name, runs):
    if len(runs) < 4:
        return None
    before, after, terms = [], [], []
    for other in (0, 1) if len(runs) >= 8 else ():
        found, _ = fitted(program, runs[other::2])
        terms.append("none" if not found else
                     f"{found['residue'] / MIB:.0f} MiB + {100 * found['slack']:.2f} %")
        held = runs[1 - other::2]
        before += [error(run, None) for run in held]
        after += [error(run, found) for run in held]
    whole, unfitted = fitted(program, runs)
    whole = whole or unfitted
    left_out = "–" if whole["error_left_out"] is None else f"{100 * whole['error_left_out']:.2f}"
    if not before:
        errors = [error(run, None) for run in runs]
        return f"| {name} | {len(runs)} | {at(errors, 0.5):.2f} | – | {at(errors, 0.9):.2f} | – | {left_out} | – |"
    return (f"| {name} | {len(runs)} | {at(before, 0.5):.2f} | {at(after, 0.5):.2f} | {at(before, 0.9):.2f} "
            f"| {at(after, 0.9):.2f} | {left_out} | {'; '.join(terms)} |")


def of_gpu(program):
    runs, models = on_gpu.read_runs()
    with ThreadPoolExecutor(2) as pool:
        fits = list(pool.map(lambda run: on_gpu.estimate(program, run, models, "h100-80gb"), runs))
    out = []
    for run, fit in zip(runs, fits, strict=True):
        if fit and fit["max_memory_reserved"]:
            kind = run["config_of"].get("trainer") or re.match(r"[a-z]+", run["id"])[0]
            out.append({"source": kind, "predicted": (fit["max_memory_allocated"], fit["max_memory_reserved"]),
                        "measured": (run["allocated"], run["reserved"])})
    return out


def of_list(path):
    """Of each run one of both peaks is known; the other is taken to be as predicted, so that it says nothing."""
    out = []
    for run in json.loads(Path(path).read_text()):
        if run["kind"] != "reserved":
            continue
        played, measured = int(run["played_mib"] * MIB), int(run["measured_mib"] * MIB)
        allocated = min(played, measured)
        out.append({"predicted": (allocated, played), "measured": (allocated, measured)})
    return out


PEFT = """model: meta-llama/Llama-3.2-3B
micro_batch_size: 4
sequence_length: 768
weights_dtype: bf16
autocast: none
optimizer: adamw_foreach
gradient_checkpointing: false
attention: sdpa
adapter: lora
adapter_dtype: fp32
"""


def estimated(program, name, said, gpu):
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "train.yaml"
        config.write_text(said)
        words = [program, "estimate", str(config), "--gpu", gpu, "--json"]
        answer = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
    on_card = answer["gpus"][0] if answer["gpus"] else None
    if on_card is None or on_card["max_memory_reserved"] is None:
        why = [one["message"] for one in answer["diagnostics"] if one["severity"] == "error"]
        print(f"{name} is not estimated: {answer['verdict']} {why}", file=sys.stderr)
        return None
    return on_card


def of_peft(program, path):
    """Of a row only what is reserved is known: as of_list() has it."""
    out = []
    for run in json.loads(Path(path).read_text()):
        lora = run.get("lora") or {}
        plain = re.search(r"/lora--[^/]*-rank\d+(-target-mlp|-dora|-rslora)?\.json", run["source"])
        if "method_comparison/MetaMathQA" not in run["source"] or not plain:
            continue
        said = PEFT + f"lora_rank: {lora['r']}\nlora_targets: {json.dumps(lora['targets'])}\n" + ("dora: true\n" if lora["use_dora"] else "")
        answer = estimated(program, run["id"], said, "l40s")
        if answer is None:
            continue
        played, measured = answer["max_memory_reserved"], int(run["reported"].split()[0])
        allocated = min(played, measured)
        out.append({"predicted": (allocated, played), "measured": (allocated, measured)})
    return out


BERT = """model: bert-large-uncased
sequence_length: 512
weights_dtype: fp32
attention: eager
"""


def of_guide(program, path):
    """The guide measured the context alone too; what was reserved is the figure less that."""
    rows = [run for run in json.loads(Path(path).read_text()) if run["source"].startswith("huggingface/transformers") and
            run["metric"].startswith("device used")]
    context = next(int(run["reported"].split()[0]) for run in rows if run["phase"] == "cuda context") * MIB
    optimizers = {"AdamW(hf)": "adamw_for_each", "Adafactor": "adafactor", "bnb Adam8bit": "adamw_8bit"}
    out = []
    for run in (run for run in rows if run["phase"] == "train"):
        said = BERT + (f"micro_batch_size: {run['micro_batch']}\ngradient_accumulation_steps: {run['grad_accum']}\n"
                       f"autocast: {'fp16' if 'AMP' in run['precision'] else 'none'}\noptimizer: {optimizers[run['optimizer']]}\n"
                       f"gradient_checkpointing: {str(run['activation_checkpointing']).lower()}\n")
        answer = estimated(program, run["id"], said, "v100-16gb")
        if answer is None:
            continue
        used = int(run["reported"].split()[0]) * MIB
        played, measured = answer["max_memory_reserved"], used - context
        allocated = min(played, measured)
        out.append({"predicted": (allocated, played), "measured": (allocated, measured),
                    "smi": (answer["nvidia_smi"] - played, used)})
    return out


QWEN = """micro_batch_size: 1
gradient_accumulation_steps: 8
weights_dtype: bf16
autocast: bf16
optimizer: adamw_foreach
gradient_checkpointing: true
attention: flash_attention_2
adapter: lora
adapter_dtype: bf16
lora_rank: 64
lora_dropout: 0.05
lora_targets: [q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj]
"""
STANDS_FOR = {"Qwen/Qwen-1.8B-Chat": "Qwen/Qwen1.5-1.8B", "Qwen/Qwen-7B-Chat": "Qwen/Qwen1.5-7B", "Qwen/Qwen-14B-Chat": "Qwen/Qwen1.5-14B"}


def of_qwen(program, path, method):
    """One figure a row, taken for what was reserved."""
    out = []
    for run in json.loads(Path(path).read_text()):
        if not run["source"].startswith("QwenLM/Qwen@") or run["n_gpus"] != 1 or run["method"] != method or run["model"] not in STANDS_FOR:
            continue
        said = f"model: {STANDS_FOR[run['model']]}\nsequence_length: {run['seq']}\n{QWEN}"
        said += "modules_to_save: [embed_tokens, lm_head]\n" if method == "lora+embeddings" else ""
        answer = estimated(program, run["id"], said, "a100-80gb")
        if answer is not None:
            allocated = answer["max_memory_allocated"]
            out.append({"predicted": (allocated, answer["max_memory_reserved"]), "measured": (allocated, int(run["peak_gib"] * (1 << 30)))})
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(on_gpu.ROOT / "build/release/oomplan"))
    parser.add_argument("--exact")
    parser.add_argument("--published")
    parser.add_argument("--more")
    args = parser.parse_args()
    program = str(Path(args.program).resolve())
    runs = of_gpu(program)
    sources = sorted({run["source"] for run in runs})
    print("| runs | of them | median error, % | with the other half's terms | 90th percentile | with | each by all others, median | the halves' terms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    rows = [row(program, f"tests/data/gpu, {source}", [run for run in runs if run["source"] == source]) for source in sources]
    rows.append(row(program, "tests/data/gpu, all", runs))
    if args.exact:
        rows.append(row(program, Path(args.exact).name + ", reserved", of_list(args.exact)))
    if args.published:
        rows.append(row(program, "peft, MetaMathQA", of_peft(program, args.published)))
        rows.append(row(program, "transformers' guide, nvidia-smi", of_guide(program, args.published)))
    if args.more:
        qwen = {method: of_qwen(program, args.more, method) for method in ("lora", "lora+embeddings")}
        rows += [row(program, f"Qwen's table, {method}", runs) for method, runs in qwen.items()]
        rows.append(row(program, "Qwen's table, both", sum(qwen.values(), [])))
    print("\n".join(filter(None, rows)))


if __name__ == "__main__":
    sys.exit(main())
