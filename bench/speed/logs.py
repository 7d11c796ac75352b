#!/usr/bin/env python3
"""A log of 1 GiB diagnosed, and `grep -cE` for a few of its sentences, in turns: wall time, peak memory, their ratio.

    bench/speed/logs.py [--program build/release/oomplan] [--gib 1] [--runs 3]

Two logs: interleaved lines of eight ranks, and one line without an end. Each ends in PyTorch's message. Exit is 1 where
the interleaved one is read slower than 500 MB/s or than a third of grep, or more than 50 MB are taken.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SENTENCES = "out of memory|OutOfMemory|Killed|SIGKILL|oom-kill|No space left|Bus error|MemoryError|Cannot allocate"
END = (b"\n[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
       b"79.15 GiB of which 1.05 GiB is free. Process 4242 has 78.09 GiB memory in use. Of the allocated memory 75.00 GiB "
       b"is allocated by PyTorch, and 1.50 GiB is reserved by PyTorch but unallocated.\n")


def interleaved():
    lines = []
    for i in range(4000):
        lines.append(f"[rank{i % 8}]: {{'loss': {2 + i % 7 / 10:.4f}, 'grad_norm': 1.{i % 999:03d}, 'epoch': 0.{i % 99:02d}}}")
        lines.append(f"node{i % 4}: 2026-01-21 10:{i % 60:02d}:00 INFO step {i} of 200000, {i % 300} samples/s")
    return ("\n".join(lines) + "\n").encode()


def write(path, piece, size):
    with open(path, "wb") as out:
        while out.tell() < size:
            out.write(piece)
        out.write(END)


def run(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name, piece in (("interleaved", interleaved()), ("one line", b"x" * 65536)):
            log = str(Path(folder) / "train.log")
            write(log, piece, int(options.gib * 2**30))
            size = os.path.getsize(log) / 1e6
            ours, grep = [], []
            for _ in range(options.runs):
                ours.append(run([options.program, "diagnose", log]))
                grep.append(run(["grep", "-cE", SENTENCES, log]))
            seconds = statistics.median(wall for wall, _ in ours)
            beside = statistics.median(wall for wall, _ in grep)
            memory = max(peak for _, peak in ours)
            met = met and memory < 50 and (name != "interleaved" or (size / seconds >= 500 and seconds <= 3 * beside))
            print(f"{name:12} {size / seconds:6.0f} MB/s {memory:6.1f} MB   grep {size / beside:6.0f} MB/s   "
                  f"{seconds / beside:.2f} of its time, median of {options.runs}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
