#!/usr/bin/env python3
"""Combinations that `oomplan sweep` answers in a second, on one core.

    bench/speed/sweep.py [--program build/release/oomplan] [--runs 5]

One combination is one estimate: the config is read with its settings, the whole step is played, its peaks are read off,
and where the tensors fit the allocator is played too. The grids without replays are so large that nothing fits. What is
counted is processor time, user and system, of the whole process, so that a busy machine does not matter much; medians are
printed, and exit is 1 where a grid without replays misses 5,000.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL = 5000
QLORA = str(ROOT / "examples/axolotl/llama-3.1-8b-qlora.yml")
GPT2 = str(ROOT / "examples/oomplan/gpt2-full.yaml")
GRIDS = {
    "gpt2, full, nothing fits": [GPT2, "--over", "micro_batch_size=1001..3000", "--gpu", "8GiB"],
    "8B, QLoRA, nothing fits": [QLORA, "--over", "micro_batch_size=1001..2000", "--gpu", "8GiB"],
    "gpt2, full, all fit": [GPT2, "--over", "micro_batch_size=1..100", "--gpu", "80GiB"],
    "8B, QLoRA, all fit": [QLORA, "--over", "micro_batch_size=1..5,sequence_len=256:1024:+256", "--gpu", "80GiB"],
}


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(program, arguments):
    start = spent()
    done = subprocess.run([program, "sweep", *arguments, "--csv"], capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    return spent() - start, len(done.stdout.splitlines()) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    met = True
    for name, arguments in GRIDS.items():
        times, counts = zip(*(seconds(options.program, arguments) for _ in range(options.runs)))
        rate = counts[0] / statistics.median(times)
        met = met and (rate >= GOAL or name.endswith("all fit"))
        print(f"{name:26} {counts[0]:5} combinations {rate:8.0f} a second, median of {options.runs}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
