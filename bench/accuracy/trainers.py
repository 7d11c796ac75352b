#!/usr/bin/env python3
"""Holds estimates of trainers' configs against what the unmodified trainers took with them.

    bench/accuracy/trainers.py [--program build/release/oomplan] [--within 0.1] [--every 1]

Prints a table. Exits 1 when a peak, or that of a phase that a case has measured, is off by more than `--within` per
cent, or than the case's own `within` (tests/data/trainers/README.md says why), or a config is not estimated.
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


def estimate(program, case, models, folder, more=()):
    """The answer to a case's config, its model beside it; None where there is no number."""
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model/config.json").write_text(json.dumps(models[case["model"]] | case["model_keys"]))
    if "teacher" in case:
        (folder / "teacher").mkdir(exist_ok=True)
        (folder / "teacher/config.json").write_text(json.dumps(models[case["teacher"]] | case["teacher_keys"]))
    texts = {"train.py": case.get("script"), "config.toml": case.get("toml"), "config.yaml": json.dumps(case.get("config"))}
    config = next(name for name, text in texts.items() if text is not None)
    (folder / config).write_text(texts[config])
    command = [program, "estimate", config, "--json"]
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
    done = subprocess.run([*command, *more], cwd=folder, capture_output=True, check=False, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def tensors(peak):
    of = peak["by_bucket"]
    return peak["total"] - of["slack"] - of["fragmentation"] - of["runtime"]


def phases_off(footprint, measured, within):
    """Of phases that a case has measured, those whose highest moment is off."""
    for phase, peak in measured.items():
        of_phase = [tensors(one) for one in footprint["peaks"] if one["phase"] == phase]
        off = 100 * (max(of_phase, default=0) / peak - 1)
        if abs(off) > within:
            yield f"{off:+.4f} % off in {phase}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--within", type=float, default=0.1, help="per cent")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one case in N, for a program that is slow")
    args = parser.parse_args()
    models = json.loads((MEASURED / "models.json").read_text())
    bad = []
    print("| case | peak in | estimated | measured | off |\n| --- | --- | ---: | ---: | ---: |")
    for case in json.loads((MEASURED / "cases.json").read_text())[:: args.every]:
        with tempfile.TemporaryDirectory() as folder:
            answer = estimate(str(Path(args.program).resolve()), case, models, Path(folder))
        if answer is None:
            bad.append(f"{case['id']} is not estimated")
            continue
        footprint = answer["footprint"]
        estimated = tensors(footprint["peak"])
        off = 100 * (estimated / case["peak"] - 1)
        peak = footprint["peak"]["phase"]
        print(f"| {case['id']} | {peak} | {estimated:,} | {case['peak']:,} | {off:+.4f} % |")
        within = case.get("within", args.within)
        if abs(off) > within:
            bad.append(f"{case['id']} is {off:+.4f} % off")
        bad += [f"{case['id']} is {text}" for text in phases_off(footprint, case.get("phases", {}), within)]
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
