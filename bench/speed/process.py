#!/usr/bin/env python3
"""Wall time and peak memory of one whole estimate, side by side with an interpreter that does nothing.

    bench/speed/process.py [--program build/release/oomplan] [--runs 200] [-- ARGUMENT...]
    bench/speed/process.py --names [--program build/release/oomplan] [--runs 2000]

The two take turns, so that whatever else the machine does hits both. Medians are printed, and exit is 1 where the
estimate misses 10 ms or 20 MB. With --names the same model is named by its id, an alias, a variant and the path of its
config.json, in turns: the medians of the differences to the path, and exit is 1 where one is 0.3 ms or more.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DEFAULT = ["estimate", str(ROOT / "examples/axolotl/llama-3.1-8b-qlora.yml"), "--gpu", "rtx-4090"]
WALL_MS, RSS_MB, NAME_MS = 10, 20, 0.3
NAMED = ROOT / "models/presets/Qwen--Qwen2.5-0.5B.yaml"
PR_SET_CHILD_SUBREAPER = 36


def wall_ms(command):
    start = time.perf_counter()
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    wall = (time.perf_counter() - start) * 1e3
    if code not in (0, 1, 4):  # 4: a variant that is quantised.
        sys.exit(f"{' '.join(command)} exited with {code}")
    return wall


def peak_mb(command):
    """Peak memory in decimal MB. A process inherits the peak of what it was forked from, and this interpreter is larger
    than the program under test: so a small shell forks it, leaves, and this process inherits the orphan."""
    shell = subprocess.Popen(["sh", "-c", '"$@" >/dev/null 2>&1 &', "sh", *command])
    shell.wait()
    _, _, usage = os.wait4(-1, 0)
    return usage.ru_maxrss * 1024 / 1e6


def compare_names(program, runs):
    """What finding a model by a name costs, beside reading its config.json."""
    preset = yaml.safe_load(NAMED.read_text())
    variant = next(name for name in preset["variants"] if "bnb" in name)
    with tempfile.TemporaryDirectory() as folder:
        config, copy = Path(folder, "own"), Path(folder, "variant")
        for path, keys in ((config, {}), (copy, preset["variants"][variant])):
            path.mkdir()
            (path / "config.json").write_text(json.dumps(preset["config"] | keys))
        names = {"id": (NAMED.stem.replace("--", "/"), config), "alias": (preset["aliases"][-1], config),
                 "variant": (variant, copy)}
        differences = {kind: [] for kind in names}
        for _ in range(runs):
            for kind, (name, path) in names.items():
                walls = [wall_ms([program, "estimate", str(model), "--method", "full", "--batch", "1", "--length", "64",
                                  "--gpu", "h200", "-q"]) for model in (name, path)]
                differences[kind].append(walls[0] - walls[1])
    medians = {kind: statistics.median(values) for kind, values in differences.items()}
    for kind, value in medians.items():
        print(f"{kind:8} {value:+.3f} ms   {names[kind][0]}, beside its config.json, median of {runs} pairs")
    return 0 if max(medians.values()) < NAME_MS else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/oomplan"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--names", action="store_true", help="a model by its names, beside its config.json")
    parser.add_argument("arguments", nargs="*", default=DEFAULT)
    options = parser.parse_args()
    if options.names:
        return compare_names(options.program, options.runs)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1)
    commands = {"oomplan": [options.program, *options.arguments], "python3 -c pass": [sys.executable, "-c", "pass"]}
    runs = {name: [] for name in commands}
    for _ in range(options.runs):
        for name, command in commands.items():
            runs[name].append((wall_ms(command), peak_mb(command)))
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in runs.items()}
    for name, (wall, rss) in medians.items():
        print(f"{name:16} {wall:7.2f} ms {rss:7.2f} MB   median of {options.runs}")
    ours, python = medians.values()
    print(f"{'ratio':16} {ours[0] / python[0]:7.2f}    {ours[1] / python[1]:7.2f}")
    return 0 if ours[0] < WALL_MS and ours[1] < RSS_MB else 1


if __name__ == "__main__":
    sys.exit(main())
