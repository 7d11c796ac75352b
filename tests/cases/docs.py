#!/usr/bin/env python3
"""Holds the transcripts in the documents against what the program prints, and looks for the pictures that they show.

    docs.py --program build/dev/oomplan [--update] README.md...

A transcript is a block marked `console` whose first line is `$ scripts/oomplan …`. A line `...` stands for any lines. A
picture is a small PNG with a text that stands for it.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run import ROOT, decoded, difference, matches  # noqa: E402

TRANSCRIPT = re.compile(r"```console\n\$ scripts/oomplan ([^\n]*)\n(.*?)```", re.DOTALL)

PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
LARGEST = 120_000  # bytes of a picture


def pictured(document, words, path):
    """What is wrong with a picture that the document shows."""
    file = document.parent / path
    data = file.read_bytes() if file.is_file() else b""
    if not data.startswith(b"\x89PNG") or len(data) > LARGEST:
        return f"{document}: {path} is not there, no PNG, or larger than {LARGEST:,} bytes (scripts/pictures)\n"
    return "" if words.strip() else f"{document}: {path} has no text that stands for it\n"


def output(program, arguments):
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", f'"$0" {arguments}', program], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, env=environment)
    return decoded(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--update", action="store_true", help="rewrite the transcripts that no longer hold")
    parser.add_argument("documents", nargs="+", type=Path)
    options = parser.parse_args()
    problems = []

    def checked(found):
        arguments, wanted = found.groups()
        actual = output(str(options.program.resolve()), arguments)
        if matches(wanted, actual):
            return found.group(0)
        problems.append(difference(f"output of {arguments}", wanted, actual))
        return f"```console\n$ scripts/oomplan {arguments}\n{actual}```"

    for document in options.documents:
        text = document.read_text()
        problems += filter(None, (pictured(document, *found.groups()) for found in PICTURE.finditer(text)))
        updated = TRANSCRIPT.sub(checked, text)
        if options.update and updated != text:
            document.write_text(updated)
    print(*problems, sep="\n", end="")
    return 1 if problems and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
