#!/usr/bin/env python3
"""The table of model families in docs/catalog.md, from models/: prints it, or with --check compares it with the page."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "catalog.md"
BEGIN, END = "<!-- families", "<!-- end of families -->"


def first(pattern, text, default=""):
    found = re.search(pattern, text, re.M)
    return found.group(1) if found else default


def table():
    presets = {}
    for file in sorted((ROOT / "models" / "presets").glob("*.yaml")):
        presets.setdefault(first(r"^  (?:model_type|_class_name): (\S+)", file.read_text()), []).append(file)
    rows = ["| model_type | layers | presets | counted by |", "| --- | --- | ---: | --- |"]
    for file in sorted((ROOT / "models" / "architectures").glob("*.yaml")):
        text = file.read_text()
        types = first(r"^model_types: \[(.*)\]", text)
        kinds = re.findall(r"^  \w+: \[\{", text.split("\nkinds:")[1].split("\nblock:")[0], re.M) if "\nkinds:" in text else []
        layers = "of kinds" if kinds else "alike"
        example = first(r"^expect:\n  (\S+):", text)
        count = sum(len(presets.get(t.strip(), [])) for t in types.split(","))
        rows.append(f"| {types} | {layers} | {count} | {example} |")
    return rows


def main():
    lines = PAGE.read_text().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(BEGIN)) + 1
    end = lines.index(END)
    new = lines[:begin] + table() + lines[end:]
    if "--check" in sys.argv:
        if new != lines:
            print("docs/catalog.md: the table of families is not what models/ has: run scripts/families.py")
            return 1
        return 0
    PAGE.write_text("\n".join(new))
    return 0


if __name__ == "__main__":
    sys.exit(main())
