#!/usr/bin/env python3
"""Holds estimates against peaks of several GPUs that others published.

    published.py --program build/release/oomplan

tests/data/published/rows.json has the rows: what was published, of which figure (allocated, reserved, what the card
shows) and of how many GPUs together, and the config beside it that says the same run, with what this config leaves out
(`without`). `left` are the rows that no config says. Prints the tables of docs/accuracy.md. With --hold it fails where
a row is off by more than its `limit`, in percent.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "published"
FIGURES = {"allocated": "max_memory_allocated", "reserved": "max_memory_reserved", "on the card": "nvidia_smi"}
UNITS = {"GB": 1e9, "GiB": 2**30}


def estimated(program, row):
    """In the row's unit, of all GPUs that its figure is of."""
    asked = [program, "estimate", row["config"], "--models", "catalog", "--gpu", row["gpu"], "--json"]
    for setting in row.get("set", []):
        asked += ["--set", setting]
    if "alloc_conf" in row:
        asked += ["--alloc-conf", row["alloc_conf"]]
    run = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=DATA)
    if not run.stdout.startswith("{"):
        sys.exit(f"{row['id']}: {run.stderr}")
    card = json.loads(run.stdout)["gpus"][0]
    return card[FIGURES[row["figure"]]] * row["share"] / UNITS[row["unit"]]


def table(rows):
    print("| row | framework | model | GPUs | rows × tokens | layout | published | estimated | off | without |")
    print("| --- | --- | --- | ---: | ---: | --- | ---: | ---: | ---: | --- |")
    for row, mine in rows:
        print(f"| {row['id']} | {row['framework'].split(' + ')[0]} | {row['model']} | {row['gpus']} "
              f"| {row['rows']} × {row['length']:,} | {row['layout']} | {row['published']:.2f} {row['unit']} "
              f"| {mine:.2f} | {mine / row['published'] - 1:+.1%} | {', '.join(row.get('without', []))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/oomplan")
    parser.add_argument("--hold", action="store_true")
    asked = parser.parse_args()
    asked.program = os.path.abspath(asked.program)
    data = json.loads((DATA / "rows.json").read_text())
    rows = [(row, estimated(asked.program, row)) for row in data["rows"]]
    off = sorted(abs(mine / row["published"] - 1) for row, mine in rows)
    table(rows)
    print("\nWhy more than 5 %:\n")
    reasons = {}
    for row, mine in rows:
        if abs(mine / row["published"] - 1) > 0.05:
            reasons.setdefault(row.get("why", "not found"), []).append(row["id"])
    for why, ids in reasons.items():
        print(f"- {', '.join(ids)}: {why}")
    print("\n| not said | rows |\n| --- | ---: |")
    for left in data["left"]:
        print(f"| {left['reason']} | {len(left['ids'])} |")
    median = statistics.median(off)
    high = off[max(0, -(-len(off) * 9 // 10) - 1)]
    print(f"\n{len(rows)} rows, {sum(o <= 0.05 for o in off)} within 5 %: median {median:.1%}, 90th percentile {high:.1%}, "
          f"worst {off[-1]:.1%}; {sum(len(left['ids']) for left in data['left'])} rows that no config says")
    over = [row["id"] for row, mine in rows if abs(mine / row["published"] - 1) > row["limit"] / 100]
    if asked.hold and over:
        sys.exit(f"off by more than they were: {', '.join(over)}")


if __name__ == "__main__":
    main()
