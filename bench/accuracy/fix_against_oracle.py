#!/usr/bin/env python3
"""Holds what `oomplan fix` promises against measured training steps.

    bench/accuracy/fix_against_oracle.py [--program build/release/oomplan] [--within 1]

For each plan of tests/data/oracle/fixes/plans.json, none of which fits its card, the cheapest fix is asked for and
applied; the patched config is estimated again, and what it holds at its peak is held against the same run measured
(measured.json beside it): the true peak, and whether the true list of allocations ends on that card, by PyTorch's
allocator (`oomplan replay`, which is exact to the byte: docs/allocator.md). Fixes that the oracle cannot run are forbidden. Prints the table of docs/accuracy.md. Exits 1
where a plan finds no fix, was not measured as it was fixed, does not fit in truth, or is off by more than `--within` per
cent.

    bench/accuracy/fix_against_oracle.py --measure ORACLE

measures what is missing: ORACLE is a folder with an oracle.py as tests/data/oracle/README.md describes it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data/oracle/fixes"
OPTIMIZERS = {"adamw_foreach": "adamw", "adamw_for_each": "adamw_forloop", "adamw_fused": "adamw_fused",
              "adamw_8bit": "adamw8bit"}
NOT_RUN = ["flash-attention", "paged-adamw", "paged-adamw-8bit", "adafactor", "packed-rows", "fused-loss", "chunked-loss",
           "cut-cross-entropy", "adamw-4bit", "optimizer-in-backward", "activation-offload", "shard-state", "shard-all",
           "shard-all-zero", "offload-state", "offload-all"]  # By the oracle.
FIRST_STEP = 16  # The oracle's code of a phase: 16 x step + phase.
PRECISIONS = {("fp32", "none"): "fp32", ("fp32", "bf16"): "amp_bf16", ("bf16", "bf16"): "amp_bf16",
              ("bf16", "none"): "bf16_pure"}


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def write_config(folder, one, models):
    (folder / "model").mkdir()
    (folder / "model/config.json").write_text(json.dumps(models[one["model"]]["config"]))
    # What an adapter would be like is left to the fix: what a config says of it stays.
    unsaid = ("lora_rank", "lora_targets", "lora_dropout") if one["plan"].get("adapter", "none") == "none" else ()
    lines = [f"{key}: {json.dumps(value)}" for key, value in one["plan"].items() if key not in unsaid]
    (folder / "config.yaml").write_text("\n".join([f"model: {folder}/model", *lines, ""]))
    return str(folder / "config.yaml")


def targets_of(names):
    return "all-linear" if names == ["all-linear"] else names


def case_of(one, facts):
    """The run that the plan describes, in the oracle's words."""
    adapted = facts["adapter"] == "lora"
    precision = PRECISIONS[facts["weights_dtype"], facts["autocast"]]
    if facts["outputs_to_fp32"]:
        sys.exit(f"{one['id']}: the oracle hands outputs on as they are")
    case = {"model": one["model"], "micro_batch": facts["micro_batch_size"], "seq_len": facts["sequence_length"],
            "grad_accum": facts["gradient_accumulation_steps"], "optimizer": OPTIMIZERS[facts["optimizer"]],
            "gradient_checkpointing": facts["gradient_checkpointing"], "attention": facts["attention"],
            "use_reentrant": facts.get("reentrant_checkpointing", False), "clip_grad": facts["clip_gradients"],
            "del_out": not facts["outputs_kept"], "set_to_none": facts["set_grads_to_none"]}
    case |= {"precision": precision, "base_bf16": facts["weights_dtype"] == "bf16"}
    if not adapted:
        return case | {"method": "full"}
    quantized = facts["quantization"] != "none"
    case |= {"method": "qlora" if quantized else "lora",
             "lora_r": facts["lora_rank"], "lora_dropout": facts["lora_dropout"], "lora_targets": targets_of(facts["lora_targets"]),
             "adapter_fp32": facts["adapter_dtype"] == "fp32"}
    return case | ({"double_quant": facts["double_quantization"]} if quantized else {})


def fixed(program, one, models):
    """What was found, and the estimate of the patched config."""
    with tempfile.TemporaryDirectory() as folder:
        config = write_config(Path(folder), one, models)
        card = ["--gpu", one["gpu"], "--json"]
        forbidden = [f"--forbid={fix}" for fix in NOT_RUN]
        advice = run(program, "fix", config, *card, *forbidden, "--apply", "--yes")
        if advice["verdict"] != "fixed":
            return advice, None
        return advice, run(program, "estimate", config, *card)


def facts_of(estimate):
    return {fact["name"]: fact["value"] for fact in estimate["plan"]["facts"]}


def measure(program, oracle, case, conf, fit):
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.npz"
        command = [sys.executable, str(oracle / "oracle.py"), json.dumps(case), "--events", str(events)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=oracle)
        if done.returncode != 0:
            sys.exit(done.stderr)
        result = json.loads(done.stdout[done.stdout.index("{"):])
        listed = Path(folder) / "events.txt"
        listed.write_text(list_of(events))
        beside = sum(term["bytes"] for term in fit["runtime"])
        replayed = run(program, "replay", str(listed), "--alloc-conf", conf or "default", "--capacity",
                       str(fit["total"]), "--context", str(beside), "--json")
    ends = replayed["lists"][0]["runs"][0]["ran_out"] is None
    return {"case": case, "alloc_conf": conf, "peak": result["peak"], "peak_phase": result["peak_phase"],
            "ends_on": fit["total"] if ends else None}


def list_of(events):
    import numpy

    with numpy.load(events) as columns:
        rows = list(zip(*(columns[name].tolist() for name in ("id", "size", "kind", "phase"))))
    # A 4-bit model is emulated from one in bf16, which no loader has on the GPU: of loading, what stays is what counts.
    gone = {one for one, _, kind, phase in rows if phase < FIRST_STEP and kind == 0}
    rows = [row for row in rows if row[1] > 0 and not (row[3] < FIRST_STEP and row[0] in gone)]
    lines = [f"a {one} {size}" if kind == 1 else f"f {one}" for one, size, kind, _ in rows]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--within", type=float, default=1, help="per cent")
    parser.add_argument("--measure", type=Path, metavar="ORACLE")
    args = parser.parse_args()
    models = json.loads((DATA.parent / "models.json").read_text())
    plans = json.loads((DATA / "plans.json").read_text())
    store = DATA / "measured.json"
    measured = json.loads(store.read_text()) if store.exists() else []
    bad = []
    print("| plan | card | fixes | promised | measured | off | ends |\n| --- | --- | --- | ---: | ---: | ---: | --- |")
    for one in plans:
        advice, estimate = fixed(args.program, one, models)
        if estimate is None:
            bad.append(f"{one['id']}: {advice['verdict']}")
            continue
        facts = facts_of(estimate)
        fit = estimate["gpus"][0]
        if fit["needed"] != advice["found"]["needed"]:
            bad.append(f"{one['id']}: {advice['found']['needed']} promised, {fit['needed']} estimated")
        case = case_of(one, facts)
        conf = facts["alloc_conf"]
        true = next((m for m in measured if m["case"] == case and m["alloc_conf"] == conf), None)
        if true is None and args.measure:
            true = measure(args.program, args.measure, case, conf, fit)
            measured.append(true)
            store.write_text(json.dumps(measured, indent=1) + "\n")
        if true is None:
            bad.append(f"{one['id']}: not measured as it was fixed: {json.dumps(case)}")
            continue
        peak = estimate["footprint"]["peak"]
        promised = peak["total"] - sum(peak["by_bucket"][name] for name in ("slack", "fragmentation", "runtime"))
        off = 100 * (promised / true["peak"] - 1)
        ends = true["ends_on"] is not None and true["ends_on"] <= fit["total"]
        names = ", ".join(f["id"] + (f" x{f['times']}" if f["times"] > 1 else "") for f in advice["found"]["fixes"])
        print(f"| {one['id']} | {one['gpu']} | {names} | {promised:,} | {true['peak']:,} | {off:+.4f} % | "
              f"{'yes' if ends else 'no'} |")
        if abs(off) > args.within or not ends:
            bad.append(f"{one['id']}: off by {off:+.4f} %, {'ends' if ends else 'does not end'} on the card")
    print(f"\n{len(plans)} plans: fixed as measured {len(plans) - len(bad)}")
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
