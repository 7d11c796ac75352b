#!/usr/bin/env python3
"""A memory snapshot diagnosed, and loaded by Python's pickle.load: wall time, peak memory, and their ratios.

    bench/speed/snapshots.py [--program build/release/oomplan] [--megabytes 60] [--runs 3] [SNAPSHOT]

Without SNAPSHOT one is made (make_snapshot.py). The two take turns. Exit is 1 where the diagnosis is not 5 times as fast
as pickle.load, or takes a third of its memory or more.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
FASTER, LEANER = 5, 3


def measure(command):
    """Seconds and decimal MB; spawned by an interpreter of its own, so that no larger peak is inherited."""
    report = tempfile.NamedTemporaryFile()
    timed = [sys.executable, "-c", CHILD, report.name, *command]
    subprocess.run(timed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    seconds, kilobytes = report.read().split()
    return float(seconds), int(kilobytes) * 1024 / 1e6


CHILD = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
assert os.waitstatus_to_exitcode(status) in (0, 1), status
open(sys.argv[1], "w").write(f"{time.perf_counter() - start} {usage.ru_maxrss}")
"""


def snapshot_of(options, folder):
    path = str(Path(folder) / "snapshot.pickle")
    make = [str(ROOT / "bench/speed/make_snapshot.py"), path, "--megabytes", str(options.megabytes)]
    subprocess.run([sys.executable, *make, "--leak", "1048576", "--oom", str(1 << 32)], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("snapshot", nargs="?")
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--megabytes", type=float, default=60)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.snapshot or snapshot_of(options, folder)
        commands = {
            "oomplan diagnose": [options.program, "diagnose", path],
            "pickle.load": [sys.executable, "-c", LOAD, path],
        }
        runs = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                runs[name].append(measure(command))
        size = os.path.getsize(path) / 1e6
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in runs.items()}
    for name, (seconds, peak) in medians.items():
        print(f"{name:17} {seconds:7.3f} s {size / seconds:7.0f} MB/s {peak:8.1f} MB peak   {size:.0f} MB, median of {options.runs}")
    ours, python = medians.values()
    print(f"{'pickle.load / us':17} {python[0] / ours[0]:7.1f} {'':14} {python[1] / ours[1]:8.1f}")
    return 0 if python[0] >= FASTER * ours[0] and python[1] > LEANER * ours[1] else 1


if __name__ == "__main__":
    sys.exit(main())
