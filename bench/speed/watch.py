#!/usr/bin/env python3
"""What `oomplan run` itself takes beside a job: its CPU time as a share of one core, and its highest RSS.

    watch.py [--program build/release/oomplan] [--seconds 20] [--lines 200]     lines a second, from four processes
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

JOB = """
import multiprocessing as m, sys, time
def work(k):
    held = bytearray(50 << 20)
    end = time.time() + {seconds}
    while time.time() < end:
        print(f'step {{k}} loss 0.1234 | 50%|#####     | 1/2 [00:01<00:01, 1.00it/s]', flush=True)
        time.sleep(4 / {lines})
for p in [m.Process(target=work, args=(k,)) for k in range(4)]: p.start()
"""


def own_use(pid):
    """CPU seconds so far and the highest RSS in MB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return cpu, rss * 1024 / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/oomplan")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--lines", type=int, default=200)
    options = parser.parse_args()
    code = JOB.format(seconds=options.seconds, lines=options.lines)
    run = subprocess.Popen([options.program, "run", "--", sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    begun, used = time.monotonic(), (0.0, 0.0)
    while run.poll() is None:
        try:
            used = own_use(run.pid)
        except (FileNotFoundError, StopIteration):
            break
        elapsed = time.monotonic() - begun
        time.sleep(0.2)
    run.wait()
    processes = sum(name.isdigit() for name in os.listdir("/proc"))
    print(f"{options.lines} lines a second for {elapsed:.0f} s, {processes} processes on the host: "
          f"{100 * used[0] / elapsed:.2f} % of a core, {used[1]:.2f} MB")


if __name__ == "__main__":
    main()
