#!/usr/bin/env python3
"""Writes a memory snapshot as torch.cuda.memory._dump_snapshot does, of any size, of a run that never was.

    bench/speed/make_snapshot.py OUT [--megabytes 10] [--protocol 4] [--leak BYTES] [--oom BYTES] [--depth 30]

The fields are those of torch/csrc/cuda/Module.cpp (THCPModule_memorySnapshot, 2.1 to 2.9) with history recorded: each
stack is a list of its own, whose frames are dicts shared among all stacks (torch/csrc/profiler/python/
combined_traceback.cpp, py_symbolize).
"""

import argparse
import pickle
import random

MIB = 1 << 20
TORCH = "/usr/lib/python3/site-packages/torch/"


class Run:
    def __init__(self, depth, seed=7):
        self.random = random.Random(seed)
        self.depth = depth
        self.frames = {}
        self.trace = []
        self.live = {}
        self.next_address = 0x7F0000000000
        self.holes = {}
        self.time = 1_700_000_000_000_000

    def frame(self, filename, line, name):
        return self.frames.setdefault((filename, line, name), {"filename": filename, "line": line, "name": name})

    def stack(self, *inner):
        """The innermost frame first, as PyTorch has them, down to main."""
        rest = [(f"/home/user/train/runner{i % 7}.py", 10 + i, f"run_{i}") for i in range(self.depth - len(inner) - 1)]
        return [self.frame(*f) for f in (*inner, *rest, ("/home/user/train/train.py", 9, "<module>"))]

    def event(self, action, address, size, frames, key="addr"):
        self.time += self.random.randrange(1, 200)
        entry = {"frames": frames, "action": action, key: address, "size": size, "stream": 0, "time_us": self.time}
        entry.update({"compile_context": "N/A", "user_metadata": ""})
        self.trace.append(entry)

    def allocate(self, size, frames):
        size = (size + 511) // 512 * 512
        addresses = self.holes.get(size)
        if addresses:
            address = addresses.pop()
        else:
            address = self.next_address
            self.next_address += size
        self.live[address] = (size, frames)
        self.event("alloc", address, size, frames)
        return address

    def free(self, address):
        size, frames = self.live.pop(address)
        self.event("free_requested", address, size, frames)
        self.event("free_completed", address, size, frames)
        self.holes.setdefault(size, []).append(address)


def module_frames(layer, op_line, op):
    model = "/home/user/train/model.py"
    return (
        (TORCH + "nn/functional.py", op_line, op),
        (TORCH + "nn/modules/module.py", 1751, "_wrapped_call_impl"),
        (TORCH + "nn/modules/module.py", 1762, "_call_impl"),
        (model, 100 + layer, "forward"),
    )


def step(run, layers, leak, step_number):
    saved = []
    for layer in range(layers):
        frames = run.stack(*module_frames(layer, 2300, "linear"))
        saved.append(run.allocate((8 + layer % 5) * MIB, frames))
        run.free(run.allocate(3 * MIB, run.stack(*module_frames(layer, 1900, "gelu"))))
    backward = ((TORCH + "autograd/__init__.py", 166, "_make_grads"), (TORCH + "autograd/__init__.py", 347, "backward"))
    gradients = [run.allocate(512, run.stack(*backward, ("/home/user/train/train.py", 41, "train_step")))]
    for layer in reversed(range(layers)):
        gradients.append(run.allocate(4 * MIB, []))  # the engine's thread has no Python frames
        run.free(saved[layer])
    if step_number == 0:
        adam = ((TORCH + "optim/adamw.py", 170, "_init_group"), (TORCH + "optim/optimizer.py", 493, "wrapper"))
        for _ in range(2 * layers):
            run.allocate(4 * MIB, run.stack(*adam, ("/home/user/train/train.py", 42, "train_step")))
    for gradient in gradients:
        run.free(gradient)
    if leak:
        run.allocate(leak, run.stack(("/home/user/train/metrics.py", 17, "keep_loss")))


def segments_of(run):
    """All blocks in segments of about 200 MiB, what was freed inactive between them."""
    blocks = [(a, s, "active_allocated", f) for a, (s, f) in run.live.items()]
    blocks += [(a, s, "inactive", []) for s, addresses in run.holes.items() for a in addresses]
    blocks.sort(key=lambda block: block[0])
    out, current = [], []
    for block in blocks:
        current.append(block)
        if sum(b[1] for b in current) >= 200 * MIB:
            out.append(segment(current))
            current = []
    return out + ([segment(current)] if current else [])


def segment(blocks):
    active = sum(b[1] for b in blocks if b[2] != "inactive")
    return {
        "device": 0,
        "address": blocks[0][0],
        "total_size": sum(b[1] for b in blocks),
        "allocated_size": active,
        "active_size": active,
        "requested_size": active,
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": blocks[0][3],
        "blocks": [
            {"address": a, "size": s, "requested_size": s if state != "inactive" else 0, "state": state, "frames": f}
            for a, s, state, f in blocks
        ],
    }


SETTINGS = {
    "PYTORCH_CUDA_ALLOC_CONF": "",
    "max_split_size": -1,
    "garbage_collection_threshold": 0.0,
    "expandable_segments": False,
    "pinned_num_register_threads": 1,
    "release_lock_on_cudamalloc": False,
    "pinned_use_cuda_host_register": False,
    "roundup_power2_divisions": {str(2**i): 0 for i in range(16)},
    "graph_capture_record_stream_reuse": False,
}


def snapshot(events, depth=30, leak=0, oom=0, layers=24):
    run = Run(depth)
    for layer in range(layers):
        load = ((TORCH + "nn/modules/module.py", 927, "_apply"), (TORCH + "nn/modules/module.py", 1371, "to"))
        run.allocate(16 * MIB, run.stack(*load, ("/home/user/train/train.py", 20, "build")))
    number = 0
    while len(run.trace) < events:
        step(run, layers, leak, number)
        number += 1
    if oom:
        failing = run.stack(*module_frames(0, 2300, "linear"))
        run.event("oom", 200 * MIB, oom, failing, key="device_free")
    run.event("snapshot", 0, 0, [])
    return {
        "segments": segments_of(run),
        "device_traces": [run.trace],
        "allocator_settings": SETTINGS,
        "external_annotations": [],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--events", type=int, help="instead of --megabytes")
    parser.add_argument("--protocol", type=int, default=4)
    parser.add_argument("--leak", type=int, default=0)
    parser.add_argument("--oom", type=int, default=0)
    parser.add_argument("--depth", type=int, default=30)
    options = parser.parse_args()
    shape = {"depth": options.depth, "leak": options.leak, "oom": options.oom}
    events = options.events
    if events is None:
        sample = len(pickle.dumps(snapshot(20000, **shape), options.protocol)) / 20000
        events = int(options.megabytes * 1e6 / sample)
    with open(options.out, "wb") as file:
        pickle.dump(snapshot(events, **shape), file, options.protocol)


if __name__ == "__main__":
    main()
