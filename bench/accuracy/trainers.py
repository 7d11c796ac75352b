#!/usr/bin/env python3
"""Holds estimates of trainers' configs against what the unmodified trainers took with them.

    bench/accuracy/trainers.py [--program build/release/oomplan] [--within 0.1]

Prints a table. Exits 1 when a peak is off by more than `--within` per cent, or a config is not estimated.
tests/data/trainers/README.md says how they were measured.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MEASURED = ROOT / "tests/data/trainers"


def estimate(program, case, models, folder):
    """The answer to a case's config, its model beside it; None where there is no number."""
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model/config.json").write_text(json.dumps(models[case["model"]] | case["model_keys"]))
    (folder / "config.yaml").write_text(json.dumps(case["config"]))
    command = [program, "estimate", "config.yaml", "--json"]
    if "trainer" in case:
        command += ["--trainer", case["trainer"]]
    for version in case.get("framework", []):
        command += ["--framework", version]
    if "launch" in case:
        (folder / "accelerate.yaml").write_text(json.dumps(case["launch"]))
        command += ["--launch", "accelerate.yaml"]
    if "deepspeed" in case:
        (folder / "deepspeed.json").write_text(json.dumps(case["deepspeed"]))
    for setting in case["set"]:
        command += ["--set", setting]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    return json.loads(done.stdout)["footprint"] if done.returncode == 0 else None


def tensors(footprint):
    of = footprint["peak"]["by_bucket"]
    return footprint["peak"]["total"] - of["slack"] - of["fragmentation"] - of["runtime"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--within", type=float, default=0.1, help="per cent")
    args = parser.parse_args()
    models = json.loads((MEASURED / "models.json").read_text())
    bad = []
    print("| case | peak in | estimated | measured | off |\n| --- | --- | ---: | ---: | ---: |")
    for case in json.loads((MEASURED / "cases.json").read_text()):
        with tempfile.TemporaryDirectory() as folder:
            footprint = estimate(str(Path(args.program).resolve()), case, models, Path(folder))
        if footprint is None:
            bad.append(f"{case['id']} is not estimated")
            continue
        off = 100 * (tensors(footprint) / case["peak"] - 1)
        peak = footprint["peak"]["phase"]
        print(f"| {case['id']} | {peak} | {tensors(footprint):,} | {case['peak']:,} | {off:+.4f} % |")
        if abs(off) > args.within:
            bad.append(f"{case['id']} is {off:+.4f} % off")
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
