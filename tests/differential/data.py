#!/usr/bin/env python3
"""Holds oomplan's readers of Parquet, Arrow and CSV against pyarrow and Python's csv.

    data.py [--count N | --seconds S] [--seed N] [parquet|arrow|csv]...

Needs the module oomplan and pyarrow on PYTHONPATH. Files are made from a seed, with every type, encoding, compression
and kind of line end that the writers know, and some of them damaged; of CSV also csv-spectrum, where scripts/suites
fetched it. Both sides must refuse a file or read the same rows; where they differ on purpose, PURPOSE below says why.
Prints a table; ends with 1 where anything else differs, and 77 where a module is missing.
"""

import argparse
import csv
import datetime
import decimal
import io
import json
import math
import pathlib
import random
import sys
import tempfile
import time

try:
    import oomplan
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError as error:
    print(f"data: skipped, {error}")
    sys.exit(77)

SUITE = pathlib.Path(__file__).resolve().parent.parent.parent / ".deps" / "suites" / "csv-spectrum"

# Refused by oomplan alone, by what its message holds.
PURPOSE = {
    "has the type": "unions, run-end encoding, views of lists and intervals: nothing compares them yet",
    "datetime cannot hold": "an instant outside of Python's years",
    "is encrypted": "nothing here takes keys",
    "measure/over-budget": "a budget: damaged files may ask for any memory",
    "does not close": "quotes that do not close: Python's csv takes what there is",
    "do not close": "quotes that do not close: Python's csv takes what there is",
    "within quotes": "a file that ends within quotes is cut",
    "cell": "a record of another width: Python's csv leaves that to its caller",
    "other bytes stand between": "bytes behind an Arrow stream: pyarrow stops at its end",
    "lacks the mark of its end": "an Arrow stream without its end may be cut; pyarrow takes it",
    "lacks its end": "an Arrow file that is cut",
    "the file ends within": "a file that is cut",
    "error: the schema: ": "an Arrow file whose first message is damaged: pyarrow takes the schema from its end",
    "null_count value": "a count of nulls that is damaged: pyarrow counts anew as it joins the batches",
    "no format that is known": "no file of this format begins so",
}
# Read by oomplan alone, by what pyarrow says.
THEIRS_ONLY = {
    "footer": "the index of an Arrow file is not needed: its batches are read from front to end",
    "Footer": "the index of an Arrow file is not needed: its batches are read from front to end",
    "Message metadata too long": "the index of an Arrow file is not needed: its batches are read from front to end",
    "File is smaller than": "the index of an Arrow file is not needed: its batches are read from front to end",
    "is not within the acceptable range": "times of day beyond a day, in damaged pages without a checksum: not looked for",
    "not an Arrow file": "the mark at the end of an Arrow file is not looked at before its rows",
}


# ---- Both sides -----------------------------------------------------------------------------------------------------


def ours(path, kind):
    """(True, rows), or (False, why)."""
    try:
        rows = []
        for batch in oomplan.streaming_dataset_reader(str(path), kind, 1000, budget="512MiB"):
            rows += [dict(zip(batch, values)) for values in zip(*batch.values())]
        return True, rows
    except (oomplan.DataError, ValueError, OverflowError) as error:  # the last two: what datetime cannot hold
        return False, str(error)


def plain(value, kind=None):
    """What pyarrow read as oomplan says it."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain(value, kind.storage_type)
    if value is None:
        return None
    if kind is not None and pa.types.is_dictionary(kind):
        return plain(value, kind.value_type)
    if kind is not None and pa.types.is_map(kind):
        return [{"key": plain(k, kind.key_type), "value": plain(v, kind.item_type)} for k, v in value]
    if kind is not None and pa.types.is_struct(kind):
        return {field.name: plain(value[field.name], field.type) for field in kind}
    if kind is not None and (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return [plain(element, kind.value_type) for element in value]
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc)
    return value


def storage(column):
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def rows_of(table):
    table.validate(full=True)
    columns = [[plain(v, column.type) for v in storage(column).to_pylist()] for column in table.columns]
    return [dict(zip(table.column_names, values)) for values in zip(*columns)]


def theirs(path, kind):
    try:
        if kind == "parquet":
            return True, rows_of(pa.parquet.ParquetFile(path).read())
        data = path.read_bytes()
        if kind == "csv":
            return True, table_rows(data)
        opened = pa.ipc.open_file(data) if data.startswith(b"ARROW1") else pa.ipc.open_stream(data)
        return True, rows_of(opened.read_all())
    except Exception as error:  # pyarrow lets all kinds through
        return False, str(error) or type(error).__name__


def table_rows(data):
    """Of CSV its records, each with its cells' texts by name; names that were there before get a number."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    records = [record for record in csv.reader(io.StringIO(text, newline=""), strict=True) if record]
    if not records:
        return []
    names = told_apart(records[0])
    if any(len(record) != len(names) for record in records):
        raise ValueError("a record of another width")
    return [dict(zip(names, record)) for record in records[1:]]


def told_apart(header):
    """As pandas does it: a, a.1, a.2."""
    times, names = {}, []
    for given in header:
        name, count = given, times.get(given, 0)
        while count:
            times[given] = count + 1
            name = f"{given}.{count}"
            count = count + 1 if name in header else times.get(name, 0)
        times[name] = times.get(name, 0) + 1
        names.append(name)
    return names


# ---- The same? ------------------------------------------------------------------------------------------------------


def same_cell(mine, text):
    """A value of CSV beside the text of its cell."""
    if mine is None:
        return text == ""
    if isinstance(mine, bool):
        return text.lower() == str(mine).lower()
    if isinstance(mine, (int, float)):
        return float(text) == float(mine)
    return mine == text


def same(mine, other):
    if isinstance(other, dict):
        return isinstance(mine, dict) and all(same(mine.get(key), value) for key, value in other.items())
    if isinstance(other, list):
        return isinstance(mine, list) and len(mine) == len(other) and all(map(same, mine, other))
    if isinstance(other, float):
        return isinstance(mine, (int, float)) and (mine == other or math.isnan(mine) and math.isnan(other))
    if isinstance(other, decimal.Decimal):
        return decimal.Decimal(mine) == other
    if isinstance(other, datetime.timedelta):
        return True  # told as a number of units
    return mine == other


def verdict(kind, mine, other):
    """"equal", "both refuse", "on purpose: …", or None where they differ."""
    if mine[0] and other[0]:
        compare = (lambda a, b: a.keys() == b.keys() and all(same_cell(a[k], b[k]) for k in b)) if kind == "csv" else same
        alike = len(mine[1]) == len(other[1]) and all(map(compare, mine[1], other[1]))
        return "equal" if alike else None
    if not mine[0] and not other[0]:
        return "both refuse"
    table, why = (PURPOSE, mine[1]) if other[0] else (THEIRS_ONLY, other[1])
    purpose = next((purpose for part, purpose in table.items() if part in why), None)
    return f"on purpose: {purpose}" if purpose else None


# ---- Files ----------------------------------------------------------------------------------------------------------


def leaf(rng):
    """A type without children, and what makes a value of it."""
    zone = rng.choice([None, "UTC", "Europe/Berlin", "+05:30"])
    unit = rng.choice(["s", "ms", "us"])
    instant = lambda: datetime.datetime(1970, 1, 1, tzinfo=zone and datetime.timezone.utc) + datetime.timedelta(
        seconds=rng.randrange(-(2**33), 2**33)
    )
    text = lambda: "".join(rng.choices("ab é日🚀\"\\,\n\0", k=rng.randrange(12)))
    width = rng.randrange(1, 20)
    digits = rng.choice([(9, 2), (18, 6), (38, 10)])
    number = lambda: decimal.Decimal(rng.randrange(-(10 ** digits[0]) + 1, 10 ** digits[0])).scaleb(-digits[1])
    whole = [(t, lambda b=b, s=s: rng.choice([0, 1, rng.randrange(-(2 ** (b - s)) * s, 2 ** (b - s))])) for t, b, s in [
        (pa.int8(), 8, 1), (pa.int16(), 16, 1), (pa.int32(), 32, 1), (pa.int64(), 64, 1),
        (pa.uint8(), 8, 0), (pa.uint16(), 16, 0), (pa.uint32(), 32, 0), (pa.uint64(), 64, 0)]]
    return rng.choice([
        *whole,
        (pa.bool_(), lambda: rng.random() < 0.5),
        (pa.float32(), lambda: rng.choice([0.0, -0.0, math.inf, math.nan, rng.randrange(-999, 999) / 8])),
        (pa.float64(), lambda: rng.choice([0.0, -0.0, -math.inf, math.nan, rng.gauss(0, 1e9)])),
        (pa.float16(), lambda: rng.randrange(-99, 99) / 8),
        (pa.string(), text), (pa.large_string(), text), (pa.string_view(), text),
        (pa.binary(), lambda: rng.randbytes(rng.randrange(9))), (pa.large_binary(), lambda: rng.randbytes(3)),
        (pa.binary(width), lambda: rng.randbytes(width)),
        (pa.decimal128(*digits), number), (pa.decimal256(60, digits[1]), number),
        (pa.date32(), lambda: instant().date()), (pa.date64(), lambda: instant().date()),
        (pa.time32("ms"), lambda: instant().time()), (pa.time64("us"), lambda: instant().time()),
        (pa.timestamp(unit, zone), instant),
        (pa.null(), lambda: None),
        (pa.dictionary(pa.int32(), pa.string()), lambda: rng.choice(["x", "y", "z"])),
    ])


def typed(rng, depth=0):
    kind = rng.random()
    if depth > 2 or kind < 0.7:
        return leaf(rng)
    of, make = typed(rng, depth + 1)
    if kind < 0.8:
        many = lambda: [or_null(rng, make) for _ in range(rng.randrange(4))]
        return rng.choice([(pa.list_(of), many), (pa.large_list(of), many)])
    if kind < 0.85:
        return pa.list_(of, 2), lambda: [or_null(rng, make) for _ in range(2)]
    if kind < 0.9:
        return pa.map_(pa.string(), of), lambda: [(f"k{i}", or_null(rng, make)) for i in range(rng.randrange(3))]
    other, make_other = typed(rng, depth + 1)
    return pa.struct([("p", of), ("q", other)]), lambda: {"p": or_null(rng, make), "q": or_null(rng, make_other)}


def or_null(rng, make):
    return None if rng.random() < 0.2 else make()


def made_table(rng):
    count = rng.choice([0, 1, 3, rng.randrange(200)])
    columns = {f"c{i}": typed(rng) for i in range(rng.randrange(1, 5))}
    arrays = [pa.array([or_null(rng, make) for _ in range(count)], kind) for kind, make in columns.values()]
    return pa.table(arrays, names=list(columns))


ENCODINGS = {
    "INT32": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT64": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "FLOAT": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "DOUBLE": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "BYTE_ARRAY": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    "FIXED_LEN_BYTE_ARRAY": ["PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"],
    "BOOLEAN": ["PLAIN", "RLE"],
}


def encodings(rng, table):
    """For each leaf of the table's schema one that its kind may have."""
    out = io.BytesIO()
    pa.parquet.write_table(table.slice(0, 0), out)
    schema = pa.parquet.ParquetFile(out).schema
    leaves = [schema.column(i) for i in range(len(schema.names))]
    return {leaf.path: rng.choice(ENCODINGS[leaf.physical_type]) for leaf in leaves if leaf.physical_type in ENCODINGS}


def parquet_file(rng):
    table = made_table(rng)
    out = io.BytesIO()
    options = {
        "compression": rng.choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"]),
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "row_group_size": rng.choice([1, 7, 1000]),
        "data_page_size": rng.choice([64, 1 << 20]),
        "use_deprecated_int96_timestamps": rng.random() < 0.2,
        "write_statistics": rng.random() < 0.5,
        "store_schema": rng.random() < 0.7,
        "write_page_index": rng.random() < 0.3,
        "write_page_checksum": rng.random() < 0.3,
    }
    if rng.random() < 0.5:
        options |= {"use_dictionary": False, "column_encoding": encodings(rng, table)}
    pa.parquet.write_table(table, out, **options)
    return out.getvalue()


def arrow_file(rng):
    table = made_table(rng)
    if rng.random() < 0.1:
        table = table.append_column("u", pa.array([b"0123456789abcdef"] * len(table), pa.binary(16)).cast(pa.uuid()))
    options = pa.ipc.IpcWriteOptions(
        compression=rng.choice([None, "lz4", "zstd"]), emit_dictionary_deltas=rng.random() < 0.3
    )
    out = io.BytesIO()
    writer = rng.choice([pa.ipc.new_stream, pa.ipc.new_file])(out, table.schema, options=options)
    with writer:
        writer.write_table(table, max_chunksize=rng.choice([1, 7, 1000]))
    return out.getvalue()


def csv_file(rng):
    names = [rng.choice(["a", "b", "a.1", "name", "é", "x y"]) for _ in range(rng.randrange(2, 5))]
    cells = ["", "a", "1", "-1.5", "1e5", "007", "true", "NaN", '"q"', '"a,b"', '"a""b"', '"a\r\nb"', '"a\rb"', '""', "é"]
    cells += ['x"y', " 1", "1 ", "null", "9223372036854775808", '"1"', "+1", "0x1"]
    end = lambda: rng.choice(ends)
    ends = rng.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])
    lines = [",".join(names), *(",".join(rng.choice(cells) for _ in names) for _ in range(rng.randrange(12)))]
    text = "".join(line + end() for line in lines)
    return (text if rng.random() < 0.8 else text.rstrip("\r\n")).encode("utf-8")


MAKERS = {"parquet": parquet_file, "arrow": arrow_file, "csv": csv_file}


def damaged(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.random()
        if kind < 0.5 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind < 0.75:
            del data[at : at + rng.randrange(1, 9)]
        else:
            data[at:at] = rng.randbytes(rng.randrange(1, 5))
    return bytes(data)


# ---- The comparison -------------------------------------------------------------------------------------------------


class Comparison:
    def __init__(self, kind, folder):
        self.kind = kind
        self.path = pathlib.Path(folder, f"data.{kind}")
        self.found = []

    def judge(self, data):
        self.path.write_bytes(data)
        mine, other = ours(self.path, self.kind), theirs(self.path, self.kind)
        judged = verdict(self.kind, mine, other)
        if judged is None:
            self.found.append((data, mine, other))
        return judged or "DIFFER"

    def run(self, source, files):
        counts = {}
        for data in files:
            judged = self.judge(data)
            counts["tried"] = counts.get("tried", 0) + 1
            counts[judged] = counts.get(judged, 0) + 1
        print_counts(self.kind, source, counts)


def print_counts(kind, source, counts):
    purposes = {name: count for name, count in counts.items() if name.startswith("on purpose")}
    shown = "  ".join(f"{name} {counts.get(name, 0):6,}" for name in ("tried", "equal", "both refuse"))
    print(f"{kind:8}{source:8} {shown}  on purpose {sum(purposes.values()):5,}  differ {counts.get('DIFFER', 0):,}")
    for name, count in sorted(purposes.items()):
        print(f"{'':16}{count:6,} {name}", flush=True)


def until(options, files):
    end = time.monotonic() + options.seconds if options.seconds else math.inf
    for number, data in enumerate(files):
        if time.monotonic() > end or (not options.seconds and number >= options.count):
            return
        yield data


def endless(make):
    while True:
        try:
            yield make()
        except (OSError, pa.ArrowException):  # what pyarrow cannot write
            continue


def compare(kind, options):
    rng = random.Random(f"{options.seed} {kind}")
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(kind, folder)
        if kind == "csv" and SUITE.is_dir():
            comparison.run("suite", (path.read_bytes() for path in sorted(SUITE.glob("*.csv"))))
        comparison.run("made", until(options, endless(lambda: MAKERS[kind](rng))))
        comparison.run("damaged", until(options, endless(lambda: damaged(rng, MAKERS[kind](rng)))))
    for number, (data, mine, other) in enumerate(comparison.found[:8]):
        print(f"{kind}: {data[:120]!r}\n  oomplan {str(mine)[:300]}\n  theirs  {str(other)[:300]}")
        if options.keep:
            pathlib.Path(options.keep, f"differs-{number}.{kind}").write_bytes(data)
    return not comparison.found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", metavar="FOLDER", help="where files that differ are written")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    options = parser.parse_args()
    good = [compare(kind, options) for kind in options.kinds or MAKERS]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
