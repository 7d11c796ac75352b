#!/usr/bin/env python3
"""What `oomplan measure` says of process trees of known appetite, beside what the kernel says of the same trees.

    bench/loader/measured.py --program build/release/oomplan [--scale 0.5] [--check]

Each tree runs three times: under oomplan measure; under /usr/bin/time -v, where each process tells its VmHWM at its end;
and in a cgroup of its own that this program makes (memory.peak, or v1's memory.max_usage_in_bytes). All figures are MiB.
--check ends with 1 where a figure that is to agree is off by more than 5 %; with 77 where it cannot be told.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_OFF = 0.05
MIB = 1 << 20
CGROUPS = Path("/sys/fs/cgroup")

# Each tree's program begins with this. `use` is the number of MiB to take.
COMMON = """
import atexit, mmap, os, sys, time
use = int(float(sys.argv[1]) * 200)
def tell():
    hwm = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))
    os.write(os.open(os.environ['PEAKS'], os.O_WRONLY | os.O_APPEND | os.O_CREAT), f'{hwm}\\n'.encode())
def take(mib, hold=0.3):
    memory = mmap.mmap(-1, mib << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    time.sleep(hold)
    return memory
def children(count, work):
    for _ in range(count):
        if os.fork() == 0:
            work()
            tell()
            os._exit(0)
    for _ in range(count): os.wait()
"""

# name: (program, whether "all together" (PSS) is to be the cgroup's peak too)
TREES = {
    "one process": ("memory = take(use)", True),
    "children that share pages": ("memory = take(use, 0); children(4, lambda: time.sleep(0.4))", True),
    "children with pages of their own": ("children(4, lambda: take(use // 4, 0.6))", True),
    "/dev/shm, touched": ("""
file = open('/dev/shm/' + os.environ['NAME'], 'w+b'); os.unlink(file.name); file.truncate(use << 20)
memory = mmap.mmap(file.fileno(), use << 20, mmap.MAP_SHARED | mmap.MAP_POPULATE); time.sleep(0.3)
""", True),
    "/dev/shm, untouched": ("""
file = open('/dev/shm/' + os.environ['NAME'], 'w+b'); os.unlink(file.name)
os.posix_fallocate(file.fileno(), 0, use << 20); time.sleep(0.3)
""", False),
    "a file, mapped": ("""
file = open(os.environ['FILE'], 'rb')
memory = mmap.mmap(file.fileno(), use << 20, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ); time.sleep(0.3)
""", True),
    "a file, read": ("""
file = open(os.environ['FILE'], 'rb', buffering=0); piece = bytearray(1 << 20)
while file.readinto(piece): pass
""", False),
    "a peak of a millisecond": ("""
time.sleep(0.2); memory = take(use, 0.001); memory.close(); time.sleep(0.2)
""", False),
    "children, one after another": ("for _ in range(4): children(1, lambda: take(use // 2, 0.15))", True),
}


class Bench:
    def __init__(self, program, scale, folder):
        self.program, self.scale, self.folder = program, str(scale), folder
        self.file = Path(folder) / "file"
        with open(self.file, "wb") as out:
            for _ in range(int(200 * scale)):
                out.write(os.urandom(MIB))
            os.fsync(out.fileno())

    def words(self, tree):
        path = Path(self.folder) / "tree.py"
        path.write_text(COMMON + TREES[tree][0] + "\ntell()\n")
        return [sys.executable, "-S", str(path), self.scale]

    def run(self, words, **rest):
        """Nothing of the file is in the page cache before, so that who reads it is charged for it."""
        with open(self.file, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        peaks = Path(self.folder) / "peaks"
        peaks.unlink(missing_ok=True)
        environment = os.environ | {"PEAKS": str(peaks), "FILE": str(self.file), "NAME": f"measured-{os.getpid()}"}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, **rest)
        return done, max(int(line) for line in peaks.read_text().split()) * 1024

    def measured(self, tree):
        command = " ".join(f"'{word}'" for word in self.words(tree))
        done, _ = self.run([self.program, "measure", "--json", "--exec", "exec " + command])
        return json.loads(done.stdout)["memory"]

    def timed(self, tree):
        done, hwm = self.run(["/usr/bin/time", "-v"] + self.words(tree))
        return int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", done.stderr)[1]) * 1024, hwm

    def counted(self, tree):
        cgroup = Path(tempfile.mkdtemp(prefix="measured-", dir=cgroup_here()[0]))
        try:
            self.run(self.words(tree), preexec_fn=lambda: (cgroup / "cgroup.procs").write_text("0"))
            return int((cgroup / cgroup_here()[1]).read_text())
        finally:
            cgroup.rmdir()


def cgroup_here():
    """The folder in which a cgroup may be made, and the name of the file with its peak."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return CGROUPS / "memory" / path.lstrip("/"), "memory.max_usage_in_bytes"
    for folder in (CGROUPS / path.lstrip("/"), (CGROUPS / path.lstrip("/")).parent):
        control = folder / "cgroup.subtree_control"
        if control.exists() and "memory" in control.read_text().split():
            return folder, "memory.peak"
    return None, None


def off(measured, truth):
    return measured / truth - 1


def rows(bench):
    for tree in TREES:
        memory = bench.measured(tree)
        time_v, hwm = bench.timed(tree)
        cgroup = bench.counted(tree)
        yield tree, memory, time_v, hwm, cgroup


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="of 200 MiB a tree")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", default="/var/tmp", help="on a disk, not in memory")
    arguments = parser.parse_args()
    if cgroup_here()[0] is None or not os.access(cgroup_here()[0], os.W_OK) or not os.path.exists("/usr/bin/time"):
        print("no cgroup may be made here, or there is no /usr/bin/time", file=sys.stderr)
        return 77
    worst = 0.0
    print("tree                               | peak RSS   VmHWM  time -v   off | cgroup's  kernel's   off | all together   off")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for tree, memory, time_v, hwm, cgroup in rows(Bench(arguments.program, arguments.scale, folder)):
            if not memory["own_cgroup"]:
                print("oomplan measure may make no cgroup here", file=sys.stderr)
                return 77
            offs = [max(off(memory["peak_rss"], time_v), off(memory["peak_rss"], hwm), key=abs),
                    off(memory["cgroup_peak"], cgroup)]
            together = off(memory["pss"], cgroup) if TREES[tree][1] else None
            worst = max([worst] + [abs(x) for x in offs + [together] if x is not None])
            print(f"{tree:<34} | {memory['peak_rss'] / MIB:8.1f} {hwm / MIB:7.1f} {time_v / MIB:8.1f} {offs[0]:+5.1%} | "
                  f"{memory['cgroup_peak'] / MIB:8.1f} {cgroup / MIB:9.1f} {offs[1]:+5.1%} | {memory['pss'] / MIB:8.1f} "
                  + (f"{together:+9.1%}" if together is not None else "        -"))
    print(f"at most {worst:.1%} off")
    return 1 if arguments.check and worst > MOST_OFF else 0


if __name__ == "__main__":
    sys.exit(main())
