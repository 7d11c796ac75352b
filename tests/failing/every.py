#!/usr/bin/env python3
"""Lets each allocation, or each call of the system, fail in turn, and looks at how the program ends.

    every.py --program build/release/oomplan --library build/release/tests/libfail.so [--first 40] [--samples 40]
             [--all] [JOB...]

Of each job the first allocations and calls fail one by one, of the others a sample, or with --all all of them. After a
failure the exit code is one that the manual has for it, something is said, no input is lost or changed, and no output
is there but a whole one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIG = """\
base_model: openai-community/gpt2
micro_batch_size: 8
gradient_accumulation_steps: 1
sequence_len: 1024
"""
ROWS = "".join(json.dumps({"id": i % 40, "text": f"row {i % 40}"}) + "\n" for i in range(100))
TABLE = "a,b\n" + "".join(f"{i % 7},x{i % 7}\n" for i in range(50))

JOBS = {
    "estimate": ["estimate", "config.yml", "--gpu", "8GiB"],
    "estimate-json": ["estimate", "config.yml", "--gpu", "8GiB", "--json"],
    "diagnose": ["diagnose", "log.txt"],
    "fix-apply": ["fix", "config.yml", "--gpu", "4GiB", "--apply", "--yes"],
    "stream": ["stream", "rows.jsonl", "table.csv", "--threads", "1"],
    "stream-threads": ["stream", "rows.jsonl", "table.csv", "--threads", "2"],
    "dedupe-output": ["dedupe", "rows.jsonl", "--output", "kept.jsonl", "--indices", "kept.txt"],
}
LOG = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.68 GiB of which 1.05 GiB is free. Process 1 has 22.61 GiB memory in use. Of the allocated memory 21.30 GiB is allocated by PyTorch, and 831.14 MiB is reserved by PyTorch but unallocated.
"""
INPUTS = {"config.yml": CONFIG, "rows.jsonl": ROWS, "table.csv": TABLE, "log.txt": LOG}


class Ended:
    """What a run said, and what lies in its folder afterwards."""

    def __init__(self, options, words, **environment):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in INPUTS.items():
                Path(folder, name).write_text(text)
            count = Path(folder, "count")
            env = dict(os.environ, LD_PRELOAD=str(options.library), OOMPLAN_FAIL_COUNT=str(count), TMPDIR=folder)
            env |= {f"OOMPLAN_FAIL_{key.upper()}": str(value) for key, value in environment.items()}
            run = subprocess.run([options.program, *words], cwd=folder, env=env, capture_output=True, timeout=120)
            self.code = run.returncode
            self.out = run.stdout.decode(errors="replace").replace(folder, "FOLDER")
            self.err = run.stderr.decode(errors="replace")
            self.count = [int(n) for n in count.read_text().split()] if count.exists() else [0, 0]
            count.unlink(missing_ok=True)
            self.files = {path.name: path.read_text() for path in Path(folder).iterdir()}


def plain(text):
    """Without what differs from run to run."""
    return re.sub(r"[0-9.,]+ ?(KiB|MiB|s|B)?", "#", text)


def faults(good, bad):
    """What is wrong with how a run ended in which something failed."""
    out = []
    if bad.code not in (good.code, 3):
        out.append(f"exit {bad.code}")
    if bad.code != good.code and not bad.err.strip() and '"diagnostics"' not in bad.out:
        out.append("nothing is said")
    if bad.code == good.code and plain(bad.out) != plain(good.out):
        out.append("another answer with the exit code of success")
    for name, text in bad.files.items():
        if text not in (INPUTS.get(name), good.files.get(name)):
            out.append(f"{name} is half-written or left behind")
    out += [f"{name} is lost" for name in INPUTS if name not in bad.files]
    return out


def numbers(count, options):
    """Which of `count` fail: the first ones, and a sample of the others."""
    if options.all or count <= options.first + options.samples:
        return range(1, count + 1)
    step = (count - options.first) / options.samples
    return [*range(1, options.first + 1), *(options.first + 1 + int(i * step) for i in range(options.samples))]


def hold(name, options):
    good = Ended(options, JOBS[name])
    found = [] if good.code in (0, 1) else [f"{name}: exit {good.code} with no failure: {good.err}"]
    tried = 0
    for kind, count in zip(("allocation", "call"), good.count):
        for number in numbers(count, options):
            bad = Ended(options, JOBS[name], **{kind: number})
            tried += 1
            found += [f"{name}: {kind} {number} of {count}: {fault}: {bad.err[:200]!r}" for fault in faults(good, bad)]
    print(f"{name}: {good.count[0]} allocations, {good.count[1]} calls, {tried} failures tried, {len(found)} faults")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--library", required=True, type=os.path.abspath)
    parser.add_argument("--first", type=int, default=40)
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(JOBS))
    options = parser.parse_args()
    found = [fault for name in options.jobs or JOBS for fault in hold(name, options)]
    print(*found[:40], sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
