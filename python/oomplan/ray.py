"""Counts, measures and deduplicates the rows of files on the machines of a Ray cluster, by Ray Data.

The machines see the files under the same paths, and have oomplan installed. A file is read by one task, within `budget`;
what goes from machine to machine is a row's hash, number and size. The result is that of `oomplan dedupe`.
"""

from __future__ import annotations

import functools
import math
import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import ray.data

from oomplan import _arguments, _libraries
from oomplan._errors import DataError

_libraries.load()
from oomplan import _native  # noqa: E402

ROWS_IN_PART = 1 << 20  # that one task compares: 28 MiB of hashes, and some times that to sort them


Reading = tuple[str, str, bool]  # format, budget, whether rows that cannot be read are left out
Paths = _arguments.Path | Iterable[_arguments.Path]


def measure(paths: Paths, *, format: str = "", budget: str | int = "256MiB", on_error: str = "stop") -> dict[str, Any]:
    """Counts of all rows: `files`, `rows`, `decoded` bytes of their values, and per row `mean` and `longest`."""
    return _Corpus(paths, [], format, budget, on_error).counts()


def dedupe(
    paths: Paths, *, key: str | Iterable[str] = (), format: str = "", budget: str | int = "256MiB", on_error: str = "stop"
) -> Deduped:
    """Finds the first of rows that are equal, or equal in the columns of `key`, in the order of the files."""
    return Deduped(_Corpus(paths, [key] if isinstance(key, str) else list(key), format, budget, on_error))


class Deduped:
    """`rows`, `unique` and `duplicates` are counts, `files` the paths in order.

    `kept` is a Dataset with a row for each row that is kept: `file`, an index into `files`, and `row`, its number there.
    """

    def __init__(self, corpus: _Corpus) -> None:
        self._corpus = corpus
        self.files: list[str] = [os.fsdecode(file) for file in corpus.files]
        self.rows: int = corpus.counts()["rows"]
        self.kept: Any = _kept(corpus.hashes, self.rows)
        self.unique: int = self.kept.count()
        self.duplicates = self.rows - self.unique

    def indices(self) -> Any:
        """The numbers of the rows kept over all files, from 0 and sorted, as `oomplan dedupe --indices` writes them."""
        first = np.concatenate([[0], np.cumsum(self._corpus.rows_of_files())])
        parts = [first[batch["file"]] + batch["row"] for batch in self.kept.iter_batches(batch_size=None)]
        return np.sort(np.concatenate(parts)) if parts else np.array([], np.int64)

    def read(self, batch_size: int = 1000) -> Any:
        """The rows kept, as a Dataset, in no order; Arrow must have a type for each column."""
        files, states, reading = self._corpus.files, self._corpus.states, self._corpus.reading

        def rows(numbers: Any) -> Iterator[Any]:
            file = numbers["file"][0].as_py()
            return _rows_of_file(files[file], states[file], numbers["row"].to_numpy(), reading, batch_size)

        by_file = self.kept.groupby("file", num_partitions=_partitions(len(files)))
        return by_file.map_groups(rows, batch_format="pyarrow")


class _Corpus:
    """Files and the hashes of their rows."""

    def __init__(self, paths: Paths, key: list[str], format: str, budget: str | int, on_error: str) -> None:
        if len(key) > 63:
            raise ValueError("a key has at most 63 columns")
        self.files = _native.shards(_arguments.paths(paths))
        self.states = [_state_of(file) for file in self.files]
        self.reading = (format, _arguments.budget(budget), _arguments.skips(on_error))
        self.key = sorted(set(key))
        hashes = ray.data.read_datasource(
            _Hashes(self.files, self.reading, self.key), override_num_blocks=len(self.files)
        )
        self.hashes = hashes.materialize()
        summary = self.hashes.map_batches(_summary, batch_size=None, batch_format="pyarrow")
        tables = [table for table in ray.get(summary.to_arrow_refs()) if table.num_rows]
        self.summary = pa.concat_tables(tables or [SUMMARY.empty_table()]).to_pydict()
        self._check_key()

    def counts(self) -> dict[str, Any]:
        rows, decoded = sum(self.summary["rows"]), sum(self.summary["decoded"])
        return {
            "files": len(self.files),
            "rows": rows,
            "decoded": decoded,
            "mean": decoded / rows if rows else 0.0,
            "longest": max(self.summary["longest"], default=0),
        }

    def rows_of_files(self) -> Any:
        out = np.zeros(len(self.files), np.int64)
        np.add.at(out, np.array(self.summary["file"], np.int64), self.summary["rows"])
        return out

    def _check_key(self) -> None:
        seen = functools.reduce(operator.or_, self.summary["seen"], 0)
        missing = [name for i, name in enumerate(self.key) if not seen >> i & 1]
        if missing:
            raise DataError(
                "\n".join(f"error: no row has the column '{name}' [measure/unknown-column]" for name in missing),
                "measure/unknown-column",
            )


class _Hashes(ray.data.Datasource):
    """A task a file."""

    def __init__(self, files: list[bytes], reading: Reading, key: list[str]) -> None:
        super().__init__()
        self._files, self._reading, self._key = files, reading, key

    def estimate_inmemory_data_size(self) -> None:
        return None

    def get_read_tasks(self, parallelism: int, per_task_row_limit: Any = None, data_context: Any = None) -> list[Any]:
        from ray.data.block import BlockMetadata

        unknown = BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
        return [
            ray.data.ReadTask(lambda i=i, file=file: _hashes_of_file(i, file, self._reading, self._key), unknown)
            for i, file in enumerate(self._files)
        ]


SCHEMA = pa.schema(
    [
        ("high", pa.uint64()),
        ("low", pa.uint64()),
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("size", pa.int64()),
        ("seen", pa.int64()),
    ]
)
SUMMARY = pa.schema([(name, pa.int64()) for name in ("file", "rows", "decoded", "longest", "seen")])


def _hashes_of_file(index: int, file: bytes, reading: Reading, key: list[str]) -> Iterator[Any]:
    reader = _native.HashReader([file], *reading, key)
    first = 0
    while (batch := reader.next()) is not None:
        hashes = np.frombuffer(batch[0], ">u8").astype(np.uint64).reshape(-1, 2)
        rows = len(hashes)
        unseen = set(reader.unseen_columns)
        seen = sum(1 << i for i, name in enumerate(key) if name not in unseen)
        yield pa.table(
            [
                hashes[:, 0],
                hashes[:, 1],
                np.full(rows, index, np.int32),
                np.arange(first, first + rows),
                np.frombuffer(batch[1], np.int64),
                np.full(rows, seen, np.int64),
            ],
            schema=SCHEMA,
        )
        first += rows
    if first == 0:
        yield SCHEMA.empty_table()


def _summary(block: Any) -> Any:
    """A row for each file in the block, or more than one."""
    file, size = block["file"].to_numpy(), block["size"].to_numpy()
    if not len(file):
        return SUMMARY.empty_table()
    begins = np.flatnonzero(np.diff(file, prepend=-1))  # rows of a file are together
    ends = np.append(begins[1:], len(file))
    return pa.table(
        [
            file[begins].astype(np.int64),
            ends - begins,
            np.add.reduceat(size, begins),
            np.maximum.reduceat(size, begins),
            np.bitwise_or.reduceat(block["seen"].to_numpy(), begins),
        ],
        schema=SUMMARY,
    )


def _partitions(wanted: int) -> int:
    return max(1, min(wanted, 256))


def _kept(hashes: Any, rows: int) -> Any:
    parts = max(1, math.ceil(rows / ROWS_IN_PART))

    def with_part(block: Any) -> Any:
        part = (block["high"].to_numpy() >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)
        return block.drop_columns(["size", "seen"]).append_column("part", pa.array(part.astype(np.int64)))

    parted = hashes.map_batches(with_part, batch_size=None, batch_format="pyarrow")
    return (
        parted.groupby("part", num_partitions=_partitions(parts))
        .map_groups(_firsts, batch_format="pyarrow")
        .materialize()
    )


def _firsts(rows: Any) -> Any:
    """Of rows that may be equal, the first of each kind."""
    high, low, file, row = (rows[name].to_numpy() for name in ("high", "low", "file", "row"))
    order = np.lexsort((row, file, low, high))
    high, low = high[order], low[order]
    new = np.ones(len(order), bool)
    new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    return pa.table({"file": file[order][new], "row": row[order][new]})


def _state_of(file: bytes) -> tuple[int, int] | None:
    """By which a second look can tell whether it changed."""
    try:
        status = os.stat(file)
    except OSError:
        return None  # reading says why
    return status.st_size, status.st_mtime_ns


def _rows_of_file(file: bytes, state: tuple[int, int] | None, kept: Any, reading: Reading, batch_size: int) -> Iterator[Any]:
    if _state_of(file) != state:
        raise _changed(file)
    kept = np.sort(kept)
    reader = _native.ValueReader([file], *reading)
    first = taken = 0
    while taken < len(kept) and (batch := reader.next(batch_size)) is not None:
        here = kept[taken : np.searchsorted(kept, reader.rows)] - first
        first, taken = reader.rows, taken + len(here)
        if len(here):
            yield pa.Table.from_pydict({name: [values[i] for i in here] for name, values in batch.items()})
    if taken < len(kept):
        raise _changed(file)


def _changed(file: bytes) -> DataError:
    path = os.fsdecode(file)
    return DataError(f"{path}: error: it changed since it was read [measure/changed]", "measure/changed", path)
