#!/usr/bin/env python3
"""Holds estimates of trainers' configs against what the unmodified trainers took on a GPU.

    bench/accuracy/on_gpu.py [--program build/release/oomplan] [--within 0.5] [--gpu h100-80gb]

Prints a table and, last, how many are how near. Exits 1 when max_memory_allocated() is off by more than `--within` per
cent, or than the run's own `within` (tests/data/gpu/README.md says why), or a config is not estimated.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import trainers

ROOT = trainers.ROOT
MEASURED = ROOT / "tests/data/gpu"


def read_runs():
    """The runs, each with its config, and the models that they name."""
    models = json.loads((trainers.MEASURED / "models.json").read_text())
    known = {case["id"]: case for case in json.loads((trainers.MEASURED / "cases.json").read_text())}
    runs = json.loads((MEASURED / "trainers.json").read_text())["runs"]
    of_gpu = json.loads((MEASURED / "models.json").read_text())
    models |= {f"gpu/{name}": config for name, config in of_gpu.items()}
    for run in runs:
        if "case" in run:
            run["config_of"] = known[run["case"]]
        else:
            run["config_of"] = run | {"model": f"gpu/{run['model']}"}
    return runs, models


def estimate(program, run, models, gpu):
    more = ["--gpu", gpu]
    if "alloc_conf" in run:
        more += ["--alloc-conf", run["alloc_conf"]]
    with tempfile.TemporaryDirectory() as folder:
        answer = trainers.estimate(program, run["config_of"], models, Path(folder), more)
    return answer and answer["gpus"][0]


def off(estimated, measured):
    return 100 * (estimated / measured - 1)


def share(errors, within):
    return f"within {within} % in {sum(abs(error) <= within for error in errors)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--within", type=float, default=0.5, help="per cent")
    parser.add_argument("--gpu", default="h100-80gb")
    args = parser.parse_args()
    program = str(Path(args.program).resolve())
    runs, models = read_runs()
    bad, allocated, reserved = [], [], []
    print("| run | allocated: estimated | measured | off | reserved: estimated | measured | off |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for run in runs:
        fit = estimate(program, run, models, args.gpu)
        if fit is None:
            bad.append(f"{run['id']} is not estimated")
            continue
        allocated.append(off(fit["max_memory_allocated"], run["allocated"]))
        reserved.append(off(fit["max_memory_reserved"], run["reserved"]))
        print(
            f"| {run['id']} | {fit['max_memory_allocated']:,} | {run['allocated']:,} | {allocated[-1]:+.4f} % "
            f"| {fit['max_memory_reserved']:,} | {run['reserved']:,} | {reserved[-1]:+.2f} % |"
        )
        if abs(allocated[-1]) > run.get("within", args.within):
            bad.append(f"{run['id']} is {allocated[-1]:+.4f} % off")
    print("\n".join(bad), file=sys.stderr)
    print(
        f"{len(allocated)} of {len(runs)} estimated: allocated {share(allocated, 0.1)}, {share(allocated, 1)}, "
        f"worst {max(allocated, key=abs):+.4f} %; reserved {share(reserved, 1)}, {share(reserved, 5)}, "
        f"worst {max(reserved, key=abs):+.2f} %"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
