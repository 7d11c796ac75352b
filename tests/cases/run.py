#!/usr/bin/env python3
"""Runs cases: one file holds the inputs, the command, and what must come out. docs/contributing.md has the format.

    run.py --program build/dev/oomplan [--update] [CASE...]     (all cases below this folder without CASE)
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import schema as json_schema  # noqa: E402

ROOT = HERE.parent.parent


class Case:
    """The sections of a case file in order; everything before the first is its description."""

    def __init__(self, path):
        self.path = path
        self.sections = []
        lines = path.read_text().splitlines(keepends=True)
        starts = [i for i, line in enumerate(lines) if line.startswith("--- ")] + [len(lines)]
        self.description = "".join(lines[: starts[0]])
        for begin, end in zip(starts, starts[1:]):
            kind, _, name = lines[begin][4:].strip().partition(" ")
            self.sections.append([kind, name, "".join(lines[begin + 1 : end])])

    def text(self, kind, default=""):
        return next((text for k, _, text in self.sections if k == kind), default)

    def has(self, kind):
        return any(k == kind for k, _, _ in self.sections)

    def put(self, kind, text):
        for section in self.sections:
            if section[0] == kind:
                section[2] = text
                return
        if text:
            self.sections.append([kind, "", text])

    def write(self):
        out = self.description
        for kind, name, text in self.sections:
            if text or kind not in ("stdout", "stderr"):
                out += f"--- {kind} {name}".rstrip() + "\n" + text
        self.path.write_text(out)


def run(case, program):
    """What the command printed and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, name, text in case.sections:
            if kind == "file":
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            elif kind == "prepare":
                subprocess.run([sys.executable, "-c", text], cwd=folder, check=True)
        environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "HOME": folder,
                       "ROOT": str(ROOT), "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
        done = subprocess.run(["bash", "-c", case.text("command")], cwd=folder, env=environment, capture_output=True,
                              timeout=120, stdin=subprocess.DEVNULL)
    return {"exit": f"{done.returncode}\n", "stdout": decoded(done.stdout), "stderr": decoded(done.stderr)}


def decoded(data):
    text = data.decode(errors="backslashreplace")
    return text if not text or text.endswith("\n") else text + "\n"


def matches(wanted, actual):
    """A line `...` stands for any lines, `{*}` for anything within a line."""
    parts = []
    for line in wanted.splitlines():
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*?".join(re.escape(piece) for piece in line.split("{*}")) + r"\n")
    return re.fullmatch("".join(parts), actual) is not None


def at(value, path):
    """`footprint.peaks[0].total` of a JSON value."""
    for name, index in re.findall(r"([^.\[\]]+)|\[(-?\d+)\]", path):
        value = value[name] if name else value[int(index)]
    return value


def json_failures(case, stdout):
    """Whether the one object on stdout obeys the schema that it names and has the values that the case names."""
    try:
        value = json.loads(stdout)
    except ValueError as error:
        return [f"stdout is not JSON: {error}"]
    name = str(value.get("schema", "")).split("/")[1:2] or ["estimate"]
    out = json_schema.violations(value, json.loads((ROOT / f"docs/{name[0]}.schema.json").read_text()))
    for line in case.text("json").splitlines():
        path, _, wanted = line.partition(" = ")
        try:
            found = at(value, path)
        except (KeyError, IndexError, TypeError):
            out.append(f"{path}: not there")
            continue
        if found != json.loads(wanted):
            out.append(f"{path} = {json.dumps(found)}, not {wanted}")
    return out


def difference(kind, wanted, actual):
    return "".join(difflib.unified_diff(wanted.splitlines(True), actual.splitlines(True), f"expected {kind}", kind))


def expected(case, kind):
    return case.text(kind, "0\n" if kind == "exit" else "")


def failures(case, actual):
    out = []
    for kind in ("exit", "stdout", "stderr"):
        if kind == "stdout" and case.has("json"):
            continue
        if not matches(expected(case, kind), actual[kind]):
            out.append(difference(kind, expected(case, kind), actual[kind]))
    return out + (json_failures(case, actual["stdout"]) if case.has("json") else [])


def update(case, actual):
    """Rewrites only what does not match, so that wildcards that still hold stay."""
    for kind in ("exit", "stdout", "stderr"):
        if not (kind == "stdout" and case.has("json")) and not matches(expected(case, kind), actual[kind]):
            case.put(kind, actual[kind])
    case.write()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--update", action="store_true", help="rewrite expectations; read the diff before committing it")
    parser.add_argument("cases", nargs="*", type=Path)
    options = parser.parse_args()
    if not options.program.is_file():
        parser.error(f"there is no program {options.program}; build it first")
    failed = 0
    paths = options.cases or sorted(HERE.glob("*/*.case"))
    for path in paths:
        case = Case(path)
        actual = run(case, options.program.resolve())
        if options.update:
            update(case, actual)
        problems = failures(Case(path), actual)
        failed += bool(problems)
        if problems:
            print(f"FAILED {path}", *problems, sep="\n")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
