#!/usr/bin/env python3
"""Attributes of ops in architectures' and towers' files that no code of the op reads.

    scripts/check_attributes.py [FILE...]

An op reads an attribute by its name: a text in src/estimate/ops/<op>.cpp (heads/ for heads), or in a file of src/estimate
that it includes, or the .cpp beside that. A name that none of them has is a slip of the pen, and would be passed over.
Without files: all of models/. Exit is 1 where there is one.
"""

import difflib
import functools
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/estimate"
OF_ALL = {"op", "module", "only", "given", "checkpointed", "older_code", "named_first"}  # Read where ops and heads are made.
OF_HEADS = {"renames", "sets_labels"}  # Read by head_checks.cpp.


@functools.cache
def sources(path):
    """The files whose texts count as this one's."""
    found, left = set(), [path]
    while left:
        file = left.pop()
        if file in found or not file.exists():
            continue
        found.add(file)
        left.append(file.with_suffix(".cpp"))
        for name in re.findall(r'#include "((?:modules|heads)/\S+\.hpp)"', file.read_text()):
            left.append(SOURCE / name)
    return frozenset(found)


@functools.cache
def names_of(kind, op):
    texts = [file.read_text() for file in sources(SOURCE / kind / f"{op}.cpp")]
    return set(re.findall(r'"(\w+)"', "\n".join(texts))) | OF_ALL | (OF_HEADS if kind == "heads" else set())


def steps_of(value, kind="ops"):
    if isinstance(value, list):
        for one in value:
            yield from steps_of(one, kind)
    elif isinstance(value, dict):
        if isinstance(value.get("op"), str):
            yield kind, value
        for key, one in value.items():
            if key not in ("config", "expect", "processor"):
                yield from steps_of(one, "heads" if key in ("head", "heads") else kind)


def main():
    files = [Path(name) for name in sys.argv[1:]]
    files = files or sorted([*(ROOT / "models/architectures").glob("*.yaml"), *(ROOT / "models/towers").glob("*.yaml")])
    found = 0
    for file in files:
        for kind, step in steps_of(yaml.safe_load(file.read_text())):
            names = names_of(kind, step["op"])
            for name in step.keys() - names:
                near = difflib.get_close_matches(name, names, 1)
                found += 1
                print(f"{file}: op {step['op']} reads no attribute {name}" + (f"; {near[0]}?" if near else ""))
    print(f"{len(files)} files, {found} attributes that nothing reads")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
