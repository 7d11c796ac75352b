#!/usr/bin/env python3
"""Asks other estimators about 40 layouts that were measured, beside oomplan, and says where and why they differ.

    estimators.py [--program build/release/oracle_accuracy] [--python PYTHON] [--llm-analysis CHECKOUT] [--megatron CHECKOUT]
                  [--torchtitan CHECKOUT] [--answers FILE] [--why] [--oomplan build/release/oomplan]

Measured: one rank's peak of allocated bytes (tests/data/oracle/ranks). oomplan is asked by oracle_accuracy. Each other tool is asked where it is
given, in its own code:

--python         a Python that has deepspeed (estimate_zero2/3_model_states_mem_needs; 0.19.8 was asked), fire (for llm-analysis), and
                 torchtitan's requirements, triton and a torch for CPUs (for torchtitan; 2.13.0 was asked, and it needs a C++ compiler)
--llm-analysis   of cli99/llm-analysis (d841e40 was asked)
--megatron       of NVIDIA/Megatron-LM (megatron/training/theoretical_memory_usage.py; d98e8a6 was asked)
--torchtitan     of pytorch/torchtitan 0.2.2, the last with scripts/estimate/estimation.py

    python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 deepspeed==0.19.8 fire triton -r TORCHTITAN/requirements.txt

with torch from an index of builds for CPUs. Exits 1 where oomplan is off by more than 1 % of a peak, or has no answer. A tool that has no notion
of a layout says why, once, and "-" in the table. --answers keeps what the tools said, and asks those alone that have said nothing yet. --why takes the named causes out of each tool's figures, one after the other; --oomplan, the program, says beside it what torchtitan's own runs of
the layouts take.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from beside import causes, titan_runs
from beside.layouts import layouts, told

HERE = pathlib.Path(__file__).resolve().parent
MEASURED = HERE.parent.parent / "tests/data/oracle/ranks"
GB = 1e9


def of_oomplan(program):
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.json"
        files = [word for name in ("models", "cases", "results") for word in (f"--{name}", str(MEASURED / f"{name}.json"))]
        subprocess.run([program, *files, "--json", str(rows)], check=True, stdout=subprocess.DEVNULL)
        return {row["id"]: {"bytes": row["predicted"], "parts": row["by_bucket"], "phase": row["predicted_phase"]} if "predicted" in row
                else {"none": row["unsupported"]} for row in json.loads(rows.read_text())}


def commands(args):
    """How each tool that there is is asked."""
    asked = {"llm-analysis": ["ask_llm_analysis.py", args.llm_analysis], "DeepSpeed": ["ask_deepspeed.py", "installed" if args.python else None],
             "Megatron-LM": ["ask_megatron.py", args.megatron], "torchtitan": ["ask_torchtitan.py", args.torchtitan],
             "torchtitan, shapes apart": ["ask_torchtitan.py", args.torchtitan, "--apart"]}
    python = args.python or sys.executable
    return {name: [python, str(HERE / "beside" / file), where, *more] for name, (file, where, *more) in asked.items() if where}


def ask(command, all_layouts):
    run = subprocess.run(command, input=json.dumps(all_layouts), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{run.stderr}")
    return json.loads(run.stdout.splitlines()[-1])


def answers_of(args, all_layouts):
    kept = json.loads(args.answers.read_text()) if args.answers and args.answers.exists() else {}
    for name, command in commands(args).items():
        if name not in kept:
            kept[name] = ask(command, all_layouts)
    if args.answers:
        args.answers.write_text(json.dumps(kept, indent=1) + "\n")
    return {"oomplan": of_oomplan(args.program)} | kept


def cell(answer, measured):
    return f"{answer['bytes'] / GB:.2f} ({100 * (answer['bytes'] / measured - 1):+.1f} %)" if "bytes" in answer else "-"


def table(answers, all_layouts):
    print("| layout | measured, GB | " + " | ".join(answers) + " |\n| --- | ---: |" + " ---: |" * len(answers))
    for layout in all_layouts:
        cells = [cell(of_tool[layout["id"]], layout["measured"]) for of_tool in answers.values()]
        print(f"| {layout['id']}: {told(layout)} | {layout['measured'] / GB:.2f} | " + " | ".join(cells) + " |")


def summary(answers, all_layouts):
    print("\n| tool | layouts | median error | worst | within 5 % | too low |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, of_tool in answers.items():
        errors = causes.errors({key: row["bytes"] for key, row in of_tool.items() if "bytes" in row}, all_layouts)
        if errors:
            worst, middle = max(errors, key=abs), causes.median(map(abs, errors))
            digits = 6 if middle < 0.01 else 1
            print(f"| {name} | {len(errors)} | {middle:.{digits}f} % | {worst:+.{digits}f} % | {sum(abs(e) <= 5 for e in errors)} | "
                  f"{sum(e < -0.05 for e in errors)} |")
    print()
    for name, of_tool in answers.items():
        said = [of_tool[layout["id"]].get("none") for layout in all_layouts]
        for why in dict.fromkeys(filter(None, said)):
            print(f"{name} {why}: {said.count(why)} layouts")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parent.parent / "build/release/oracle_accuracy"))
    for name in ("--python", "--llm-analysis", "--megatron", "--torchtitan"):
        parser.add_argument(name)
    parser.add_argument("--answers", type=pathlib.Path)
    parser.add_argument("--why", action="store_true")
    parser.add_argument("--oomplan")
    args = parser.parse_args()
    all_layouts = layouts(MEASURED)
    answers = answers_of(args, all_layouts)
    table(answers, all_layouts)
    summary(answers, all_layouts)
    if args.why:
        causes.tell(answers, all_layouts)
        if args.oomplan and "torchtitan, shapes apart" in answers:
            titan_runs.tell(all_layouts, answers["torchtitan, shapes apart"], args.oomplan)
    ours = [answers["oomplan"][layout["id"]].get("bytes", 0) / layout["measured"] for layout in all_layouts]
    return 0 if all(abs(part - 1) <= 0.01 for part in ours) else 1


if __name__ == "__main__":
    sys.exit(main())
