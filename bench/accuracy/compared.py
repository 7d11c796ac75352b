#!/usr/bin/env python3
"""`oomplan compare` beside a real run: GPT-2 trained for two steps by PyTorch on the CPU, once as the config says and once with a hook that
keeps a copy of one layer's output.

    bench/accuracy/compared.py --oracle FOLDER --python PYTHON [--program build/release/oomplan] [--keep FOLDER]

FOLDER has an oracle that was built (oracle.py, fakecuda), PYTHON its torch, transformers and peft. It writes each allocation and free of the run;
a caching allocator, as PyTorch has it, gives them addresses, and to_snapshot.py makes a memory snapshot of that. In the place of stacks, which
the oracle does not have, each allocation gets its op and its phase, as oomplan's own export has them.
Prints what is said of the planted run; exit code 1 where that does not differ from the other by the planted tensor alone.
"""

import argparse
import collections
import json
import lzma
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
CASE = {"model": "gpt2", "micro_batch": 1, "seq_len": 128, "precision": "fp32"}
CONFIG = "model: openai-community/gpt2\nmicro_batch_size: 1\nsequence_length: 128\nweights_dtype: fp32\nautocast: none\noptimizer: adamw_for_each\noutputs_kept: true\n"
# Runs within the oracle's Python: a hook as people write them, which keeps what a layer gave.
RUN = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/build"]
import oracle
kept, build = [], oracle.build
def planted(case, dev):
    out = build(case, dev)
    if sys.argv[4] == "planted":
        out[0].transformer.h[6].mlp.register_forward_hook(lambda module, args, given: kept.append(given.detach().clone()) if not kept else None)
    return out
oracle.build = planted
oracle.run(json.loads(sys.argv[2]), "cpu", sys.argv[3])
import numpy
found = numpy.load(sys.argv[3])
ops = [str(found["names"][op]) for op in found["op"]]
json.dump([*(found[name].tolist() for name in ("id", "size", "kind", "phase")), ops], open(sys.argv[3] + ".json", "w"))
"""


class Segments:
    """PyTorch's caching allocator, without limits: the smallest free block that is large enough, cut where enough is left."""

    def __init__(self):
        self.free, self.of, self.lines, self.ends, self.top = [], {}, [], [], 1 << 40

    def alloc(self, key, size):
        rounded = max((size + 511) // 512 * 512, 512)
        small = rounded <= MIB
        fitting = [block for block in self.free if block[2] == small and block[1] >= rounded]
        at, length, _, segment = block = min(fitting, key=lambda one: (one[1], one[0]), default=None) or self.segment(rounded, small)
        self.free.remove(block)
        if length - rounded >= (512 if small else MIB + 1):
            self.free.append((at + rounded, length - rounded, small, segment))
            length = rounded
        self.of[key] = (at, length, small, segment, size)
        self.lines.append(f"alloc {at} {size} 0")

    def segment(self, rounded, small):
        size = 2 * MIB if small else 20 * MIB if rounded < 10 * MIB else (rounded + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
        block = (self.top, size, small, self.top)
        self.lines.append(f"segment_alloc {self.top} {size} 0")
        self.ends.append(f"end {self.top} {size} 0")
        self.free.append(block)
        self.top += size + (1 << 30)
        return block

    def give_back(self, key):
        at, length, small, segment, size = self.of.pop(key)
        self.lines += [f"free_requested {at} {size} 0", f"free_completed {at} {size} 0"]
        for other in [one for one in self.free if one[3] == segment and (one[0] + one[1] == at or at + length == one[0])]:
            self.free.remove(other)
            at, length = min(at, other[0]), length + other[1]
        self.free.append((at, length, small, segment))


PHASES = ("load", "forward", "loss", "backward", "optimizer_step", "between")
BUCKETS = ("weights", "activations", "logits_and_loss", "gradients", "optimizer", "activations")


def counted(events):
    """Numbers that CPU kernels take as tensors of their own, a GPU has as arguments: but for the loss they are left out."""
    for key, size, kind, phase, op in zip(*events, strict=True):
        if kind == 0 or size > 8 or op == "aten::nll_loss_forward":
            yield key, size, kind, phase, op


def listed(events):
    """A trace as tests/data/traces has them."""
    segments = Segments()
    for key, size, kind, _, _ in counted(events):
        if kind == 1:
            segments.alloc(key, size)
        elif key in segments.of:
            segments.give_back(key)
    return "\n".join(["# a run on the CPU", *segments.lines, *segments.ends]) + "\n"


def framed(snapshot, events):
    made = iter([(phase, op) for _, _, kind, phase, op in counted(events) if kind == 1])
    at = {}
    for entry in snapshot["device_traces"][0]:
        if entry["action"] == "alloc":
            phase, op = next(made)
            names = [("", op), ("oomplan", BUCKETS[phase % 16]), ("oomplan", f"{PHASES[phase % 16]} of step {phase // 16}")]
            at[entry["addr"]] = [{"filename": file, "line": 0, "name": name} for file, name in names]
        if not entry["action"].startswith("segment"):
            entry["frames"] = at[entry["addr"]]
    return snapshot


def run(args, folder, what):
    path = folder / f"{what}.npz"
    subprocess.run([args.python, "-c", RUN, str(args.oracle.resolve()), json.dumps(CASE), str(path), what], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL)
    events = json.loads(Path(f"{path}.json").read_text())
    text, snapshot = folder / f"{what}.txt.xz", folder / f"{what}.pickle"
    text.write_bytes(lzma.compress(listed(events).encode()))
    subprocess.run([sys.executable, ROOT / "tests/data/traces/to_snapshot.py", text, snapshot], check=True)
    snapshot.write_bytes(pickle.dumps(framed(pickle.loads(snapshot.read_bytes()), events), 4))
    (folder / "train.yaml").write_text(CONFIG)
    words = [str(args.program.resolve()), "compare", "train.yaml", snapshot.name]
    if what == "planted":
        print(subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stdout)
    return json.loads(subprocess.run([*words, "--json"], cwd=folder, capture_output=True, text=True, check=False).stdout)["comparison"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", type=Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/oomplan")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        before, after = run(args, folder, "plain"), run(args, folder, "planted")
    return judged(before, after)


def told(found):
    """How many tensors differ, by kind, size, phase and step."""
    out = collections.Counter()
    for one in found["differences"]:
        out[one["kind"], one["observed"], one["at"]["phase"], one["at"]["step"]] += one["count"]
    return out


def judged(before, after):
    new = told(after) - told(before)
    print(f"{before['lined_up']} allocations lined up. Without what was planted {told(before).total()} differ, and with it these too:")
    for (kind, size, phase, step), count in new.items():
        print(f"  {count} {kind}, {size:,} B, in {phase} of step {step}")
    for one, other in zip(before["phases"], after["phases"], strict=True):
        print(f"  {one['phase']} {one['step']}: predicted {one['predicted']:,}, the run {one['observed']:,}, with the hook {other['observed']:,}")
    return int(new != {("only_observed", 128 * 768 * 4, "forward", 1): 1})


if __name__ == "__main__":
    sys.exit(main())
