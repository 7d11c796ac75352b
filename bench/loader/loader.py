#!/usr/bin/env python3
"""Reads the same datasets with oomplan and with what else people use, each in a fresh process, side by side.

    python3 -m venv .venv && .venv/bin/pip install pyarrow polars duckdb datasets fast-axolotl zstandard
    PYTHONPATH=build/release/python .venv/bin/python bench/loader/loader.py --program build/release/oomplan-data \\
        --data /var/tmp/loader [--scale 0.5]

The datasets are generated into --data with a fixed seed, once. Times are CPU seconds of the process and its threads, the
least of three runs, in turns with the other readers, once the file is in the page cache; a reader that takes over ten
seconds runs once. Peaks are the kernel's own (ru_maxrss), the highest of the runs. A reader that fails is in the table too.
"""

import argparse
import gzip
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

READERS = {}


def reader(kind, name):
    def add(function):
        READERS[kind, name] = function
        return function
    return add


# Each returns the number of rows that it saw: read batch by batch where the library can do that.
@reader("parquet", "pyarrow, tuned")
def _(path):
    import pyarrow.parquet as pq
    file = pq.ParquetFile(path, buffer_size=1 << 18, pre_buffer=False)
    return sum(batch.num_rows for batch in file.iter_batches(batch_size=1024, use_threads=False))


@reader("parquet", "pyarrow")
def _(path):
    import pyarrow.parquet as pq
    return sum(batch.num_rows for batch in pq.ParquetFile(path).iter_batches())


@reader("parquet", "polars")
def _(path):
    import polars
    return sum(len(batch) for batch in polars.scan_parquet(path).collect_batches())


@reader("parquet", "duckdb")
def _(path):
    import duckdb
    batches = duckdb.connect().sql(f"select * from '{path}'").to_arrow_reader(10000)
    return sum(batch.num_rows for batch in batches)


@reader("parquet", "datasets, streaming")
def _(path):
    import datasets
    return sum(1 for _ in datasets.load_dataset("parquet", data_files=path, split="train", streaming=True))


@reader("parquet", "oomplan, Python")
def _(path):
    import oomplan
    return sum(len(next(iter(batch.values()))) for batch in oomplan.streaming_dataset_reader(path, "parquet", 1000, 2))


@reader("parquet", "fast-axolotl")
def _(path):
    import fast_axolotl
    batches = fast_axolotl.streaming_dataset_reader(path, "parquet", 1000, 2)
    return sum(len(next(iter(batch.values()))) for batch in batches)


@reader("jsonl", "json, a line at a time")
def _(path):
    import json
    if path.endswith(".zst"):
        import pyarrow
        stream = pyarrow.CompressedInputStream(pyarrow.OSFile(path), "zstd")
        lines = __import__("io").BufferedReader(stream)
    else:
        lines = gzip.open(path)
    return sum(1 for line in lines if json.loads(line) is not None)


@reader("jsonl", "polars")
def _(path):
    import polars
    return sum(len(batch) for batch in polars.scan_ndjson(path).collect_batches())


@reader("jsonl", "duckdb")
def _(path):
    import duckdb
    batches = duckdb.connect().sql(f"select * from read_json('{path}')").to_arrow_reader(10000)
    return sum(batch.num_rows for batch in batches)


@reader("jsonl", "datasets, streaming")
def _(path):
    import datasets
    return sum(1 for _ in datasets.load_dataset("json", data_files=path, split="train", streaming=True))


@reader("jsonl", "oomplan, Python")
def _(path):
    import oomplan
    batches = oomplan.streaming_dataset_reader(path, "jsonl." + path.rsplit(".", 1)[1], 1000, 2)
    return sum(len(next(iter(batch.values()))) for batch in batches)


@reader("jsonl", "fast-axolotl")
def _(path):
    import fast_axolotl
    batches = fast_axolotl.streaming_dataset_reader(path, "jsonl." + path.rsplit(".", 1)[1], 1000, 2)
    return sum(len(next(iter(batch.values()))) for batch in batches)


def fast_axolotl_reader(kind):
    @reader(kind, "fast-axolotl")
    def _(path):
        import fast_axolotl
        batches = fast_axolotl.streaming_dataset_reader(path, kind, 1000, 2)
        return sum(len(next(iter(batch.values()))) for batch in batches)


def datasets_reader(kind):
    @reader(kind, "datasets, streaming")
    def _(path):
        import datasets
        return sum(1 for _ in datasets.load_dataset(kind, data_files=path, split="train", streaming=True))


def python_reader(kind):
    @reader(kind, "oomplan, Python")
    def _(path):
        import oomplan
        return sum(len(next(iter(batch.values()))) for batch in oomplan.streaming_dataset_reader(path, kind, 1000, 2))


for kind in ("arrow", "csv", "text"):
    datasets_reader(kind)
    python_reader(kind)
    fast_axolotl_reader(kind)


# Each returns the number of unique rows.
@reader("dedupe", "polars, 64-bit hashes")
def _(path):
    import polars
    return polars.read_parquet(path).hash_rows(0).n_unique()


@reader("dedupe", "polars, exact")
def _(path):
    import polars
    return polars.read_parquet(path).n_unique()


@reader("dedupe", "duckdb")
def _(path):
    import duckdb
    return duckdb.connect().execute(f"select count(*) from (select distinct * from '{path}')").fetchone()[0]


@reader("dedupe", "oomplan, Python")
def _(path):
    import oomplan
    import polars
    rows = [str(row) for row in polars.read_parquet(path).iter_rows()]
    return len(oomplan.deduplicate_indices(rows)[0])


@reader("dedupe", "fast-axolotl")
def _(path):
    import fast_axolotl
    import polars
    rows = [str(row) for row in polars.read_parquet(path).iter_rows()]
    return len(fast_axolotl.deduplicate_indices(rows)[0])


def fresh(command, seconds):
    """What a process printed last, its CPU seconds and peak, or why there is none."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"})
    import threading
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    code = os.waitstatus_to_exitcode(status)
    answer = out.strip().splitlines()[-1] if code == 0 and out.strip() else f"exit {code}"
    return answer, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ours(program, kind, path, *more):
    command = [program, "dedupe" if kind == "dedupe" else "stream", path, "--json", *more]
    script = ("import json, subprocess, sys; out = json.loads(subprocess.run(sys.argv[1:], stdout=subprocess.PIPE).stdout);"
              "read = out.get('read', {}); cost = out.get('cost', {});"
              "print(out.get('unique', read.get('rows')) if out['verdict'] == 'answered' else out['diagnostics'][0]['code'],"
              " cost.get('cpu_seconds', 0), cost.get('peak_rss', 0) / 2**20)")
    answer, cpu, peak = subprocess.run([sys.executable, "-c", script, *command], stdout=subprocess.PIPE,
                                       text=True).stdout.split()
    return answer, float(cpu), float(peak)


def in_turns(readers):
    """The readers by name, each with the answer, least CPU seconds and highest peak of its runs."""
    found = {}
    for name, read in 3 * list(readers.items()):
        if name in found and found[name][1] > 10:
            continue
        answer, cpu, peak = read()
        before = found.get(name, (answer, cpu, peak))
        found[name] = answer, min(cpu, before[1]), max(peak, before[2])
    return found


def texts(rng):
    words = [("w%d" % i) * rng.randint(1, 3) for i in range(5000)]
    return [" ".join(rng.choice(words) for _ in range(rng.randint(20, 600))) for _ in range(4000)]


def generate(folder, scale):
    import pyarrow as pa
    import pyarrow.parquet as pq
    rng = random.Random(7)
    base = texts(rng)
    per_group = int(10_000 * scale)
    if not (folder / "groups.parquet").exists():
        with pq.ParquetWriter(folder / "groups.tmp", pa.schema([("id", pa.int64()), ("text", pa.string())]), compression="zstd") as out:
            for group in range(64):
                ids = range(group * per_group, (group + 1) * per_group)
                out.write_table(pa.table({"id": ids, "text": [base[i * 7919 % 4000] + str(i) for i in ids]}), per_group)
        os.rename(folder / "groups.tmp", folder / "groups.parquet")
    if not (folder / "one_group.parquet").exists():
        table = pq.read_table(folder / "groups.parquet")
        pq.write_table(table, folder / "one_group.parquet", row_group_size=table.num_rows, compression="zstd")
        del table
    if not (folder / "tenth.parquet").exists():
        whole = pq.ParquetFile(folder / "groups.parquet")
        with pq.ParquetWriter(folder / "tenth.tmp", whole.schema_arrow, compression="zstd") as out:
            for group in range(6):
                out.write_table(whole.read_row_group(group), per_group)
        os.rename(folder / "tenth.tmp", folder / "tenth.parquet")
    if not (folder / "lines.jsonl.gz").exists():
        import json
        zstd = pa.CompressedOutputStream(pa.OSFile(str(folder / "lines.jsonl.zst"), "wb"), "zstd")
        with gzip.open(folder / "lines.jsonl.gz", "wb", compresslevel=1) as plain, zstd:
            for i in range(int(150_000 * scale)):
                line = json.dumps({"id": i, "text": base[i * 7919 % 4000] + str(i)}).encode() + b"\n"
                plain.write(line)
                zstd.write(line)
    if not (folder / "lines.csv").exists():
        import pyarrow.csv
        ids = range(int(150_000 * scale))
        table = pa.table({"id": ids, "text": [base[i * 7919 % 4000] + str(i) for i in ids]})
        with pa.OSFile(str(folder / "lines.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table, 10_000)
        (folder / "lines.txt").write_text("".join(text + "\n" for text in table["text"].to_pylist()))
        pa.csv.write_csv(table, folder / "lines.csv")
        del table
    if not (folder / "short.parquet").exists():
        with pq.ParquetWriter(folder / "short.tmp", pa.schema([("id", pa.int64()), ("text", pa.string())]), compression="zstd") as out:
            for _ in range(20):
                ids = [rng.randrange(int(9_000_000 * scale)) for _ in range(int(500_000 * scale))]
                out.write_table(pa.table({"id": ids, "text": [f"row number {i} of many" for i in ids]}))
        os.rename(folder / "short.tmp", folder / "short.parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="oomplan-data")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="of the datasets' rows; 1 is 2 GB of decoded Parquet")
    parser.add_argument("--seconds", type=int, default=300, help="after which a reader is ended")
    parser.add_argument("--one", nargs=3, metavar=("KIND", "NAME", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, name, path = options.one
        print(READERS[kind, name](path))
        return
    options.data.mkdir(parents=True, exist_ok=True)
    pid = os.fork()  # so that what generating takes is gone
    if pid == 0:
        generate(options.data, options.scale)
        os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit("generating failed")
    program = str(Path(options.program).resolve())
    print("| dataset | reader | answer | CPU s | peak MiB |\n| --- | --- | --- | --- | --- |")
    for kind, file in (("parquet", "groups.parquet"), ("parquet", "tenth.parquet"), ("parquet", "one_group.parquet"),
                       ("jsonl", "lines.jsonl.zst"), ("jsonl", "lines.jsonl.gz"), ("arrow", "lines.arrow"),
                       ("csv", "lines.csv"), ("text", "lines.txt"), ("parquet", "short.parquet"),
                       ("dedupe", "short.parquet")):
        path = str(options.data / file)
        subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
        readers = {"**oomplan**": partial(ours, program, kind, path),
                   "**oomplan** `--budget 64MiB`": partial(ours, program, kind, path, "--budget", "64MiB")}
        for (of_kind, name) in READERS:
            if of_kind == kind:
                command = [sys.executable, __file__, "--data", ".", "--one", kind, name, path]
                readers[name] = partial(fresh, command, options.seconds)
        for name, (answer, cpu, peak) in in_turns(readers).items():
            print(f"| {file if kind != 'dedupe' else file + ', unique'} | {name} | {answer} | {cpu:.2f} | {peak:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
