#!/usr/bin/env python3
"""Writes a list of a recorded trace (tests/data/traces) as the memory snapshot that it was taken from, without stacks.

    tests/data/traces/to_snapshot.py LIST.txt.xz OUT.pickle
"""

import lzma
import pickle
import sys

MIB = 1 << 20
SMALL_SEGMENT = 2 * MIB


def entries_of(lines):
    for action, *numbers in (line.split() for line in lines if not line.startswith(("segment ", "block ", "end "))):
        first, size, stream = (int(n) for n in (*numbers, 0)[:3])
        where = {"device_free": first} if action == "oom" else {"addr": first}
        yield {"action": action, **where, "size": size, "stream": stream, "time_us": 0, "frames": []}


def in_use_at_end(lines):
    """Address and bytes asked for of each block: those of the beginning, and what the trace makes of them."""
    used = {int(l.split()[1]): int(l.split()[2]) for l in lines if l.startswith("block ")}
    for entry in entries_of(lines):
        if entry["action"] == "alloc":
            used[entry["addr"]] = entry["size"]
        elif entry["action"] == "free_completed":
            del used[entry["addr"]]
    return used


def blocks_of(address, size, used, keeps_rest):
    """The segment's blocks; what is left behind one belongs to it where less than `keeps_rest` is never cut off."""
    out, at, end = [], address, address + size
    inside = sorted(a for a in used if address <= a < end)
    for block, after in zip(inside, [*inside[1:], end]):
        if block > at:
            out.append((at, block - at, "inactive"))
        length = (used[block] + 511) // 512 * 512
        if after - block - length <= keeps_rest:
            length = after - block
        out.append((block, length, "active_allocated"))
        at = block + length
    return out + ([(at, end - at, "inactive")] if at < end else [])


def snapshot_of(text):
    lines = text.splitlines()
    conf = lines[0].split(" settings ")[1].strip() if " settings " in lines[0] else ""
    lines = [line for line in lines if line and not line.startswith("#")]
    trace = list(entries_of(lines))
    used = in_use_at_end(lines)
    expandable = any(entry["action"] == "segment_map" for entry in trace)
    segments = []
    for address, size, stream in (map(int, line.split()[1:4]) for line in lines if line.startswith("end ")):
        small = size == SMALL_SEGMENT if not expandable else size % (20 * MIB) != 0
        blocks = blocks_of(address, size, used, MIB if not small and not expandable else 0)
        segments.append({"device": 0, "address": address, "total_size": size, "stream": stream,
                         "segment_type": "small" if small else "large", "segment_pool_id": (0, 0),
                         "is_expandable": expandable, "frames": [],
                         "blocks": [{"address": a, "size": s, "state": state, "frames": []} for a, s, state in blocks]})
    settings = {"PYTORCH_CUDA_ALLOC_CONF": conf, "expandable_segments": expandable, "max_split_size": -1,
                "garbage_collection_threshold": 0.0}
    return {"segments": segments, "device_traces": [trace], "allocator_settings": settings}


if __name__ == "__main__":
    with lzma.open(sys.argv[1], "rt") as file, open(sys.argv[2], "wb") as out:
        pickle.dump(snapshot_of(file.read()), out, 4)
