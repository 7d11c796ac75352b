#!/usr/bin/env python3
"""What `oomplan estimate --snapshot` and `--trace` write, opened as their viewers open it.

    viewers.py snapshot|trace --program build/dev/oomplan

The snapshot goes through PyTorch's own _memory_viz, whose pages memory_viz draws; without torch the test is skipped (77).
No registry has a parser of traces without a program that it downloads, so a trace is held against the rules of the Trace
Event Format, by which ui.perfetto.dev and chrome://tracing read it. Both have the figures of the answer.
"""

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGS = ["examples/oomplan/gpt2-full.yaml", "examples/axolotl/llama-3.1-8b-qlora.yml"]
NEAR = 1.01  # The most that is reserved may come a little after the peak.
BESIDE_TENSORS = {"slack", "fragmentation", "paged", "runtime"}


def written(program, config, option, folder):
    """The file and the answer in JSON, of one run."""
    path = Path(folder) / "written"
    done = subprocess.run([program, "estimate", ROOT / config, "--gpu", "rtx-4090", "--json", option, path],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return path, json.loads(done.stdout)["footprint"]["peak"]


def replayed(trace):
    """The most that is allocated, and the most that is reserved, by a device's trace."""
    sizes = {"alloc": (1, 0), "free_completed": (-1, 0), "segment_alloc": (0, 1), "segment_free": (0, -1),
             "segment_map": (0, 1), "segment_unmap": (0, -1)}
    now, most = [0, 0], [0, 0]
    for event in trace:
        for i, sign in enumerate(sizes.get(event["action"], (0, 0))):
            now[i] += sign * event["size"]
            most[i] = max(most[i], now[i])
    return most


def check_snapshot(program, config, folder):
    import torch.cuda._memory_viz as viz
    path, peak = written(program, config, "--snapshot", folder)
    snapshot = pickle.loads(path.read_bytes())
    [trace] = [one for one in snapshot["device_traces"] if one]
    told = viz.trace(snapshot)  # Raises where an allocation lies in no segment, or a free is of nothing.
    assert f"{len(trace)} entries" in told
    assert viz.segsum(snapshot).startswith("Summary of segments")
    for page in (viz.trace_plot(snapshot), viz.segment_plot(snapshot)):
        assert "<script" in page and len(page) > path.stat().st_size / 2
    active = sum(viz.calc_active(segment) for segment in snapshot["segments"])
    assert active == sum(segment["active_size"] for segment in snapshot["segments"])
    allocated, reserved = replayed(trace)
    tensors = sum(size for bucket, size in peak["by_bucket"].items() if bucket not in BESIDE_TENSORS)
    assert peak["total"] <= reserved <= peak["total"] * NEAR, (reserved, peak["total"])
    assert 0 <= allocated - tensors <= peak["by_bucket"]["runtime"], (allocated, tensors)  # And cuBLAS's workspaces.


def nest(slices):
    """Of a thread two slices lie one in the other, or apart."""
    ends = []
    for begin, end in sorted(slices, key=lambda one: (one[0], -one[1])):
        while ends and ends[-1] <= begin:
            ends.pop()
        if ends and end > ends[-1]:
            return False
        ends.append(end)
    return True


def check_event(event):
    assert event["ph"] in "MXC" and isinstance(event["name"], str), event
    assert isinstance(event["pid"], int), event
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name") and isinstance(event["args"]["name"], str), event
        return
    assert isinstance(event["ts"], (int, float)) and event["ts"] >= 0, event
    if event["ph"] == "X":
        assert event["dur"] >= 0 and isinstance(event["tid"], int), event
    else:
        assert event["args"] and all(isinstance(size, int) and size >= 0 for size in event["args"].values()), event


def check_trace(program, config, folder):
    path, peak = written(program, config, "--trace", folder)
    trace = json.loads(path.read_text())
    assert trace["displayTimeUnit"] in ("ms", "ns")
    events = trace["traceEvents"]
    for event in events:
        check_event(event)
    named = {event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    assert threads and set(threads) <= named
    for thread, slices in threads.items():
        assert nest(slices), thread
    counters, most, reserved = {}, 0, 0
    for event in (one for one in events if one["ph"] == "C"):
        last = counters.get(event["name"], (0, 0))
        assert event["ts"] >= last[0], event
        counters[event["name"]] = (event["ts"], sum(event["args"].values()))
        reserved = max(reserved, counters.get("reserved", (0, 0))[1])
        most = max(most, sum(size for name, (_, size) in counters.items() if name not in ("reserved", "paged")))
    tensors = sum(size for bucket, size in peak["by_bucket"].items() if bucket not in BESIDE_TENSORS)
    assert peak["total"] <= reserved <= peak["total"] * NEAR, (reserved, peak["total"])
    assert most >= tensors, (most, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["snapshot", "trace"])
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    if options.what == "snapshot":
        try:
            import torch  # noqa: F401
        except ImportError:
            print("no torch: skipped")
            return 77
    check = {"snapshot": check_snapshot, "trace": check_trace}[options.what]
    for config in CONFIGS:
        with tempfile.TemporaryDirectory() as folder:
            check(Path(options.program).resolve(), config, folder)
        print(f"{config}: as its viewer reads it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
