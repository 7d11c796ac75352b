#!/usr/bin/env python3
"""Deduplicates a corpus of many short rows within a budget, by hand: 200 million rows take minutes and some 7 GB of disk.

    python3 -m venv .venv && .venv/bin/pip install pyarrow numpy
    .venv/bin/python bench/loader/large.py --program build/release/oomplan-data --data /var/tmp/large

The true count of unique rows is counted with one bit field over all ids that a row can have.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

AT_ONCE = 1_000_000


def generate(path, rows):
    """Rows {id, text}, ids drawn from nine tenths as many; how many differ."""
    random = numpy.random.default_rng(7)
    kinds = rows * 9 // 10
    drawn = numpy.zeros(kinds, dtype=bool)
    schema = pyarrow.schema([("id", pyarrow.int64()), ("text", pyarrow.string())])
    unfinished = path.with_suffix(".tmp")
    with pyarrow.parquet.ParquetWriter(unfinished, schema, compression="zstd") as out:
        for begin in range(0, rows, AT_ONCE):
            ids = random.integers(0, kinds, min(AT_ONCE, rows - begin))
            drawn[ids] = True
            text = pyarrow.compute.binary_join_element_wise("row number", pyarrow.array(ids).cast("string"), "of many", " ")
            out.write_table(pyarrow.table({"id": ids, "text": text}))
    os.rename(unfinished, path)
    return int(drawn.sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="oomplan-data")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=200_000_000)
    parser.add_argument("--budget", default="1GiB")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    path = options.data / f"short_{options.rows}.parquet"
    count = path.with_suffix(".unique")
    if not (path.exists() and count.exists()):
        count.write_text(str(generate(path, options.rows)))
    command = [options.program, "dedupe", str(path), "--budget", options.budget, "--tmp", str(options.data), "--json"]
    out = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    if out["verdict"] != "answered":
        sys.exit(out["diagnostics"][0]["message"])
    cost = out["cost"]
    right = out["unique"] == int(count.read_text())
    print(f"{out['rows']} rows, {out['unique']} unique: {'right' if right else 'WRONG'}; "
          f"{cost['peak_rss'] / 2**20:.0f} MiB of {out['budget'] / 2**20:.0f}, {out['table_bytes'] / 2**20:.0f} of them hashes; "
          f"{out['spilled_bytes'] / 2**30:.1f} GiB through the disk; {cost['cpu_seconds']:.0f} s of CPU, {cost['seconds']:.0f} s")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
