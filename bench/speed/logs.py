#!/usr/bin/env python3
"""A log of 1 GiB diagnosed, and `grep -cE` for a few of its sentences, in turns: wall time, peak memory, their ratio.

    bench/speed/logs.py [--program build/release/oomplan] [--gib 1] [--runs 3] [KIND...]

A log a kind of noise (noise.py), with PyTorch's message in its middle, and one that is a line without an end, with the message
behind it. Exit is 1 where the message is not found, or more than 64 MB or 1.5 times grep's time are taken.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from noise import KINDS

ROOT = Path(__file__).resolve().parent.parent.parent
SENTENCES = "out of memory|OutOfMemory|Killed|SIGKILL|oom-kill|No space left|Bus error|MemoryError|Cannot allocate"
FAILURE = (b"\n[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
           b"79.15 GiB of which 1.05 GiB is free. Process 4242 has 78.09 GiB memory in use. Of the allocated memory 75.00 "
           b"GiB is allocated by PyTorch, and 1.50 GiB is reserved by PyTorch but unallocated.\n")
ONE_LINE = "one line"
MOST_MEMORY = 64
MOST_TIMES_GREP = 1.5


def write(path, piece, before, after):
    with open(path, "wb") as out:
        while out.tell() < before:
            out.write(piece)
        out.write(FAILURE)
        end = out.tell() + after
        while out.tell() < end:
            out.write(piece)


def run(command):
    # Into a file: grep stops at the first line that it finds where its output is /dev/null.
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6


def found(program, log):
    done = subprocess.run([program, "diagnose", "--json", log], capture_output=True)
    root = json.loads(done.stdout)["root"]
    return root is not None and {"name": "requested", "text": "2.00 GiB", "bytes": 2**31} in root["facts"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join([*KINDS, ONE_LINE]))
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    size = int(options.gib * 2**30)
    met = True
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "train.log")
        for name in options.kinds or [*KINDS, ONE_LINE]:
            if name == ONE_LINE:
                write(log, b"x" * 65536, size, 0)
            else:
                write(log, KINDS[name](), size // 2, size // 2)
            megabytes = os.path.getsize(log) / 1e6
            ours, grep = [], []
            for _ in range(options.runs):
                ours.append(run([options.program, "diagnose", log]))
                grep.append(run(["grep", "-cE", SENTENCES, log]))
            seconds = statistics.median(wall for wall, _ in ours)
            beside = statistics.median(wall for wall, _ in grep)
            memory = max(peak for _, peak in ours)
            good = found(options.program, log) and memory < MOST_MEMORY and seconds <= MOST_TIMES_GREP * beside
            met = met and good
            print(f"{name:14} {megabytes / seconds:6.0f} MB/s {memory:6.1f} MB   grep {megabytes / beside:6.0f} MB/s   "
                  f"{seconds / beside:.2f} of its time{'' if good else '   OFF'}", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
