#!/usr/bin/env python3
"""What was held against runs of unmodified trainers: for each value of each fact, in how many runs, and the worst error.

    bench/accuracy/verified.py [--program build/release/oomplan]

Prints a table, and below it the values without a run, which rest on the sources that their files name. The facts and
their values are those of docs/oomplan-yaml.md; the runs those of tests/data/trainers (README there).
"""

import argparse
import collections
import json
import re
import tempfile
from pathlib import Path

import trainers

MANUAL = trainers.ROOT / "docs/oomplan-yaml.md"


def choices():
    """The facts with a closed list of values, and those but the usual one, which a plan does not list."""
    out = {}
    for line in MANUAL.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 6 or not re.fullmatch(r"`(?!loader_)\w+`", cells[1]):  # loaders are of the host alone
            continue
        name, expected, usual = cells[1].strip("`"), cells[2], cells[3].strip("`")
        if expected == "true or false":
            out[name] = ["true"]
        elif expected.startswith("one of "):
            out[name] = re.split(", (?:or )?", expected.removeprefix("one of "))
        elif re.fullmatch(r"(`\w+`(, )?)+", expected):
            out[name] = re.findall(r"`(\w+)`", expected)
        elif name == "optimizer":
            out[name] = sorted(path.stem for path in (trainers.ROOT / "models/optimizers").glob("*.yaml"))
        if name in out:
            out[name] = [value for value in out[name] if value != usual or name == "optimizer"]
    return out


def text_of(value):
    return "true" if value is True else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(trainers.ROOT / "build/release/oomplan"))
    args = parser.parse_args()
    models = json.loads((trainers.MEASURED / "models.json").read_text())
    runs, worst = collections.Counter(), collections.defaultdict(float)
    for case in json.loads((trainers.MEASURED / "cases.json").read_text()):
        with tempfile.TemporaryDirectory() as folder:
            answer = trainers.estimate(str(Path(args.program).resolve()), case, models, Path(folder))
        off = 100 * (trainers.tensors(answer["footprint"]["peak"]) / case["peak"] - 1)
        facts = {fact["name"]: text_of(fact["value"]) for fact in answer["plan"]["facts"]}
        facts["framework"] = re.sub(r",? .*", "", answer["plan"]["framework"])
        for fact in facts.items():
            runs[fact] += 1
            worst[fact] = max(worst[fact], off, key=abs)
    known = choices()
    known = {"framework": sorted({value for name, value in runs if name == "framework"})} | known
    print("| fact | value | runs | worst |\n| --- | --- | ---: | ---: |")
    without = []
    for name, values in known.items():
        for value in values:
            if runs[name, value]:
                print(f"| `{name}` | {value} | {runs[name, value]} | {worst[name, value]:+.4f} % |")
            else:
                without.append(f"`{name}: {value}`")
    print("\nWithout a run: " + ", ".join(without) + ".")


if __name__ == "__main__":
    main()
