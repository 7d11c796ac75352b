"""How quick the Python package is beside C++, how long its import takes, and how large a wheel is. OFF, and exit code 1,
where Python gives less than 95 % of the answers that C++ gives. Both are counted by the processor's time of the process, which other work
on the machine changes little.

    PYTHONPATH=build/release/python bench/python/api.py --reply-speed build/release/reply_speed [--wheel FILE]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time
import zipfile

import oomplan

CONFIG = "examples/axolotl/llama-3.1-8b-qlora.yml"
ROUNDS = 16
SECONDS = 0.4
LEAST = 0.95  # of the answers that C++ gives a second


def per_second(ask):
    ask()
    count, begin = 0, time.process_time()
    while (passed := time.process_time() - begin) < SECONDS:
        ask()
        count += 1
    return count / passed


def in_cpp(program, name):
    done = subprocess.run([program, "--benchmark_format=json", f"--benchmark_filter=answer/{name}$"], capture_output=True, text=True, check=True)
    return 1e9 / json.loads(done.stdout)["benchmarks"][0]["cpu_time"]


def import_ms():
    """What `import oomplan` and its first answer take in a fresh Python, beside what Python itself takes."""
    script = (
        "import time; a = time.perf_counter(); import oomplan; b = time.perf_counter();"
        f" oomplan.estimate({CONFIG!r}, outlook=False); print((b - a) * 1e3, (time.perf_counter() - b) * 1e3)"
    )
    found = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in range(10)]
    return [min(float(one.stdout.split()[i]) for one in found) for i in range(2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reply-speed", type=pathlib.Path)
    parser.add_argument("--wheel", type=pathlib.Path)
    asked = parser.parse_args()
    first, answer = import_ms()
    print(f"import oomplan {first:.1f} ms, first answer {answer:.1f} ms more")
    slow = False
    asked_of = {"tensors": {"replay": False}, "peak": {"outlook": False}, "gpu": {"gpu": "rtx-4090", "outlook": False}}
    for name, named in asked_of.items():
        asks = {
            "python": lambda named=named: per_second(lambda: oomplan.estimate(CONFIG, **named)),
            "read": lambda named=named: per_second(lambda: oomplan.estimate(CONFIG, **named).peak),
        }
        if asked.reply_speed:
            asks["cpp"] = lambda name=name: in_cpp(asked.reply_speed, name)
        # In many short turns, and the best of each: a machine that others use is not as quick at all times.
        rounds = [{way: ask() for way, ask in asks.items()} for _ in range(ROUNDS)]
        best = {way: max(one[way] for one in rounds) for way in asks}
        part = best["python"] / best["cpp"] if "cpp" in best else 1
        beside = f", C++ {best['cpp']:.1f}: {part:.1%}{' OFF' if part < LEAST else ''}" if "cpp" in best else ""
        slow = slow or part < LEAST
        print(f"estimate, {name}: {best['python']:.1f} a second, with its numbers read {best['read']:.1f}{beside}")
    if asked.wheel:
        print(f"{asked.wheel.name}: {asked.wheel.stat().st_size / 1e6:.2f} MB")
        for member in sorted(zipfile.ZipFile(asked.wheel).infolist(), key=lambda one: -one.compress_size)[:5]:
            print(f"  {member.compress_size / 1e6:6.2f} of {member.file_size / 1e6:6.2f} MB  {member.filename}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
