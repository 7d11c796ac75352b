#!/usr/bin/env python3
"""Plants a difference in a snapshot that oomplan exported.

    tests/cases/compare/plant.py WHAT FROM.pickle TO.pickle

WHAT is more, third, dtype, missing, later, unframed, cut=ENTRIES, stop=ENTRIES or segments.
"""

import pickle
import sys

FAR = 1 << 50  # an address that no segment of an export has
MIB = 1 << 20


def moment(entry):
    return entry["frames"][2]["name"] if len(entry["frames"]) == 3 else ""


def nth_of(trace, phase, least, n=5):
    """The place of the n-th allocation of at least so many bytes in a phase, which is freed, and of its free."""
    for at, entry in enumerate(trace):
        if entry["action"] != "alloc" or moment(entry) != phase or entry["size"] < least:
            continue
        free = next((i for i in range(at, len(trace)) if trace[i]["action"] == "free_completed" and
                     trace[i]["addr"] == entry["addr"]), None)
        n -= free is not None
        if n == 0:
            return at, free
    raise SystemExit("no such allocation")


def more(snapshot, trace):
    at, _ = nth_of(trace, "forward of step 1", MIB)
    insert(snapshot, trace, at, [{"filename": "hooks.py", "line": 7, "name": "log_norms"}])


def third(snapshot, trace):
    """A third step begins before the last two tensors that the second frees are freed."""
    names = [("", "aten::mm"), ("oomplan", "activations"), ("oomplan", "forward of step 3")]
    insert(snapshot, trace, len(trace) - 4, [{"filename": file, "line": 0, "name": name} for file, name in names])


def insert(snapshot, trace, at, frames):
    made = {"addr": FAR, "size": 3 * MIB, "stream": 0, "time_us": 0, "frames": frames}
    segment = {"action": "segment_alloc", **made, "size": 20 * MIB}
    trace[at:at] = [segment, {"action": "alloc", **made}, {"action": "free_requested", **made}, {"action": "free_completed", **made}]
    block = {"address": FAR, "size": 20 * MIB, "requested_size": 0, "state": "inactive", "frames": []}
    snapshot["segments"].append({**snapshot["segments"][0], "address": FAR, "total_size": 20 * MIB, "blocks": [block],
                                 "segment_type": "large"})


def dtype(_, trace):
    at, free = nth_of(trace, "forward of step 1", MIB)
    for i in (at, free):
        trace[i] = {**trace[i], "size": trace[i]["size"] // 2}


def missing(_, trace):
    at, free = nth_of(trace, "forward of step 1", MIB)
    del trace[free], trace[at]


def later(_, trace):
    """Until its address is needed again."""
    for n in range(1, 100):
        at, free = nth_of(trace, "backward of step 1", MIB, n)
        begin, end = trace[free]["addr"], trace[free]["addr"] + trace[free]["size"]
        to = next((i for i in range(free + 1, len(trace)) if trace[i]["action"] == "alloc" and
                   trace[i]["addr"] < end and trace[i]["addr"] + trace[i]["size"] > begin), len(trace))
        if sum(entry["action"] == "alloc" for entry in trace[free:to]) > 2:
            trace.insert(to - 1, trace.pop(free))
            return


def unframed(snapshot, trace):
    trace[:] = [{**entry, "frames": []} for entry in trace]
    for segment in snapshot["segments"]:
        segment["blocks"] = [{**block, "frames": []} for block in segment["blocks"]]


def cut(_, trace, entries):
    del trace[:-entries]


def stop(snapshot, trace, entries):
    """As if it was written after so many entries: what is in use then, in the segments of then."""
    del trace[entries:]
    held, segments = {}, {}
    for entry in trace:
        of = segments if entry["action"].startswith("segment") else held
        if entry["action"] in ("alloc", "segment_alloc"):
            of[entry["addr"]] = entry
        elif entry["action"] in ("free_completed", "segment_free"):
            del of[entry["addr"]]
    like = snapshot["segments"][0]
    snapshot["segments"] = [{**like, "address": base, "total_size": segment["size"], "blocks": blocks_of(segment, held),
                             "segment_type": "small" if segment["size"] == 2 * MIB else "large"}
                            for base, segment in sorted(segments.items())]


def blocks_of(segment, held):
    """What less is left of than is ever cut off, a block keeps."""
    at, end = segment["addr"], segment["addr"] + segment["size"]
    least = 512 if segment["size"] == 2 * MIB else MIB + 1
    inside = [held[address] for address in sorted(held) if at <= address < end]
    blocks = []

    def add(size, asked, state, frames):
        if size > 0:
            blocks.append({"address": at, "size": size, "requested_size": asked, "state": state, "frames": frames})
        return at + size

    for entry, following in zip(inside, [*inside[1:], {"addr": end}]):
        at = add(entry["addr"] - at, 0, "inactive", [])
        size = (entry["size"] + 511) // 512 * 512
        left = following["addr"] - at - size
        at = add(size + (left if left < least else 0), entry["size"], "active_allocated", entry["frames"])
    add(end - at, 0, "inactive", [])
    return blocks


def segments(snapshot, _):
    snapshot["device_traces"] = []


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        loaded = pickle.load(file)
    for asked in sys.argv[1].split(","):
        name, _, value = asked.partition("=")
        globals()[name](loaded, loaded["device_traces"][0], *([int(value)] if value else []))
    with open(sys.argv[3], "wb") as file:
        pickle.dump(loaded, file, 4)
