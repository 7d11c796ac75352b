#!/usr/bin/env python3
"""Holds the estimates of the configs in examples/ against what the frameworks' own code took with them.

    bench/accuracy/examples.py [--program build/release/oomplan] [--within 0.1]

Prints the table of docs/accuracy.md. Exits 1 when an example is missing from the measurements, when its peak falls in
another phase, or when a phase's peak is off by more than `--within` per cent. tests/data/oracle/README.md says how the
examples were measured.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MEASURED = ROOT / "tests/data/oracle/examples.json"
PHASES = {"forward": "fwd", "loss": "loss", "backward": "bwd", "optimizer_step": "opt", "between": "between"}


def estimate(program, config):
    command = [program, "estimate", str(ROOT / config), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["footprint"]


def tensors(peak):
    """With what is paged: where these were measured, a paged optimizer's state was a tensor of the device."""
    of = peak["by_bucket"]
    return peak["total"] - of["slack"] - of["fragmentation"] + of["paged"]


def rows(name, measured, footprint):
    for peak in footprint["peaks"]:
        if peak["step"] == 2 and peak["phase"] in PHASES:
            yield name, peak["phase"], tensors(peak), measured["steps"][1][PHASES[peak["phase"]]]
    yield name, "peak", tensors(footprint["peak"]), measured["peak"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--within", type=float, default=0.1, help="per cent")
    args = parser.parse_args()
    measured = {one["config"]: one for one in json.loads(MEASURED.read_text())}
    examples = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("examples/*/*.y*ml"))
    bad = [f"{name} was not measured" for name in examples if name not in measured]
    print("| config | moment of step 2 | estimated | measured | off |\n| --- | --- | ---: | ---: | ---: |")
    for name in sorted(set(examples) & set(measured)):
        footprint = estimate(args.program, name)
        phase = PHASES[footprint["peak"]["phase"]]
        if phase != measured[name]["peak_phase"]:
            bad.append(f"{name} peaks in {phase}, not in {measured[name]['peak_phase']}")
        for config, moment, ours, true in rows(name, measured[name], footprint):
            off = 100 * (ours / true - 1)
            print(f"| {config} | {moment} | {ours:,} | {true:,} | {off:+.4f} % |")
            if abs(off) > args.within:
                bad.append(f"{config}: {moment} is {off:+.4f} % off")
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
