"""Datasets that the tests beside this write."""

import contextlib
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import oomplan
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

PROGRAM = os.environ["OOMPLAN_PROGRAM"]


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def read(path, dataset_type, *arguments, **options):
    return list(oomplan.streaming_dataset_reader(path, dataset_type, *arguments, **options))


def rows_of(batches):
    """As dicts, a row each."""
    return [dict(zip(batch, values)) for batch in batches for values in zip(*batch.values())]


def ordinary_rows(count, seed=7):
    rng = random.Random(seed)
    words = ["a", "row", "of", "Straße", "日本", "🚀", 'with "quotes"', "and, commas", ""]
    return [
        {
            "id": i,
            "score": rng.randrange(-320, 320) / 64,
            "text": " ".join(rng.choices(words, k=rng.randrange(9))) + "x",
            "flag": rng.random() < 0.5,
            "maybe": None if rng.random() < 0.3 else rng.randrange(-5, 1 << 40),
            "tokens": [rng.randrange(50000) for _ in range(rng.randrange(1, 5))],
        }
        for i in range(count)
    ]


def write_csv(path, rows):
    import csv

    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0])
        writer.writerows(
            [
                ["" if v is None else "true" if v is True else "false" if v is False else v for v in row.values()]
                for row in rows
            ]
        )


def write_all(where, rows):
    """The rows in each format that has lists: (file, fast-axolotl's name for it)."""
    table = pa.Table.from_pylist(rows)
    pa.parquet.write_table(table, where / "rows.parquet", row_group_size=100)
    with pa.ipc.new_file(str(where / "rows.arrow"), table.schema) as out:
        out.write_table(table, 64)
    pa.feather.write_feather(table, str(where / "rows.feather"), compression="uncompressed")
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (where / "rows.jsonl").write_bytes(lines)
    (where / "rows.jsonl.gz").write_bytes(gzip.compress(lines))
    with pa.CompressedOutputStream(pa.OSFile(str(where / "rows.jsonl.zst"), "wb"), "zstd") as out:
        out.write(lines)
    (where / "rows.json").write_text(json.dumps(rows))
    return [
        ("rows.parquet", "parquet"),
        ("rows.arrow", "arrow"),
        ("rows.feather", "feather"),
        ("rows.jsonl", "jsonl"),
        ("rows.jsonl", "ndjson"),
        ("rows.jsonl.gz", "jsonl.gz"),
        ("rows.jsonl.zst", "jsonl.zst"),
        ("rows.json", "json"),
        ("rows.parquet", "auto"),
        ("rows.jsonl", ""),
    ]


def in_child(script, *arguments):
    """What a fresh Python prints for it."""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]
