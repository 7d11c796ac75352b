"""Rows of a dataset as dicts of lists, a batch at a time."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from oomplan import _arguments, _libraries
from oomplan._errors import DataError

_libraries.load()
from oomplan import _native  # noqa: E402

# fast-axolotl's names for formats, and what they are here. What a file is packed with is told by its content.
FORMATS = {
    "parquet": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "csv": "csv",
    "tsv": "csv",
    "json": "json-array",
    "jsonl": "json-lines",
    "ndjson": "json-lines",
    "text": "text",
}
PACKED = ("zst", "zstd", "gz", "gzip")


def streaming_dataset_reader(
    file_path: _arguments.Path,
    dataset_type: str,
    batch_size: int = 1000,
    num_threads: int = 4,
    *,
    budget: str | int = "256MiB",
    on_error: str = "stop",
) -> Iterator[dict[str, list[Any]]]:
    """Yields batches of `batch_size` rows, each a dict of lists, while the file is read.

    `dataset_type` is a name of fast-axolotl's ("parquet", "jsonl.zst", "hf_dataset"), or "auto" for what is in the file.
    `budget` is what reading may take beside what the process holds already; a batch is shorter where it would be past
    it. Raises DataError, and with on_error="skip" warns of rows that it leaves out.
    """
    batch_size = _arguments.count("batch_size", batch_size, least=1)
    _arguments.count("num_threads", num_threads, least=0)
    reader = _native.ValueReader(
        *_files(os.fspath(file_path), dataset_type), _arguments.budget(budget), _arguments.skips(on_error)
    )
    while (batch := reader.next(batch_size)) is not None:
        yield batch


def _files(path: str | bytes, dataset_type: str) -> tuple[list[bytes], str]:
    """The files to read and the format that each has."""
    if not isinstance(dataset_type, str):
        raise TypeError(f"dataset_type is a str, not {type(dataset_type).__name__}")
    if dataset_type == "hf_dataset" or (dataset_type in ("", "auto") and os.path.exists(_state_of(path))):
        return _arguments.paths(_shards_of(path)), "arrow"
    if dataset_type in ("", "auto"):
        return _arguments.paths(path), ""
    base, _, packed = dataset_type.partition(".")
    if base not in FORMATS or (packed and packed not in PACKED):
        raise DataError(
            f"Unsupported dataset type: {dataset_type}. Known are: {', '.join(FORMATS)}, each also with"
            f" .{', .'.join(PACKED)}; hf_dataset; auto",
            "measure/unknown-format",
            str(path),
        )
    paths = _arguments.paths(path)
    if base == "json" and {_native.format_of(file) for file in _native.shards(paths)} <= {"json-array", "json-lines"}:
        return paths, ""  # an array, or an object a line: as each file has it
    return paths, FORMATS[base]


def _state_of(path: str | bytes) -> str:
    return os.path.join(os.fsdecode(path), "state.json")


def _shards_of(path: str | bytes) -> list[pathlib.Path]:
    """Of a folder that datasets.save_to_disk wrote, the files in their order."""
    folder = pathlib.Path(os.fsdecode(path))
    if os.path.exists(_state_of(path)):
        files = _listed(folder / "state.json", "files of data", lambda state: _names_of_files(state["_data_files"]))
        return [folder / name for name in files]
    if os.path.exists(folder / "dataset_dict.json"):
        splits = _listed(folder / "dataset_dict.json", "splits", lambda info: list(map(str, info["splits"])))
        raise _bad(folder, f"it has the splits {', '.join(splits)}; give the folder of one of them")
    found = sorted(folder.glob("*.arrow"))
    if not found and folder.is_dir():
        raise _bad(folder, "it has no .arrow file, as a folder has that save_to_disk wrote")
    return found or [folder]


def _names_of_files(shards: Iterable[Any]) -> list[str]:
    names = [pathlib.Path(shard["filename"]).name for shard in shards]
    if not {"", ".."}.isdisjoint(names):
        raise ValueError("a folder is no file of data")
    return names


def _listed(path: pathlib.Path, what: str, names: Callable[[Any], list[str]]) -> list[str]:
    """The names that a file of JSON has."""
    try:
        with open(path, encoding="utf-8") as file:
            return names(json.load(file))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _bad(path, f"it names no {what}") from error


def _bad(path: pathlib.Path, why: str) -> DataError:
    return DataError(f"{path}: error: {why} [measure/bad-file]", "measure/bad-file", str(path))
