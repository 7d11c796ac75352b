"""Which texts are the first of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from oomplan import _arguments, _libraries

_libraries.load()
from oomplan import _native  # noqa: E402


def deduplicate_indices(
    rows: Sequence[str], existing_hashes: Sequence[str] | None = None, num_threads: int = 0
) -> tuple[list[int], list[str]]:
    """The indices of rows that differ from all before them, and their hashes: SHA-256 in hex, as fast-axolotl has them.

    Rows whose hash is in `existing_hashes` are left out. Within `rows` the 128-bit hash of oomplan's dedupe tells rows
    apart, so that SHA-256 is of each different row only once.
    """
    _arguments.count("num_threads", num_threads, least=0)
    rows = _sequence("rows", rows)
    indices = _native.first_texts(rows)
    hashes = [sha256(rows[index].encode()).hexdigest() for index in indices]
    if existing_hashes is None:
        return indices, hashes
    known = _sequence("existing_hashes", existing_hashes)
    for digest in known:
        if not isinstance(digest, str):
            raise TypeError(f"existing_hashes are str, not {type(digest).__name__}")
    old = set(known)
    new = [(index, digest) for index, digest in zip(indices, hashes) if digest not in old]
    return [index for index, _ in new], [digest for _, digest in new]


def _sequence(name: str, values: Any) -> tuple[str, ...]:
    """A tuple of what can be indexed: lists, arrays, but no sets or iterators."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(type(values), "__getitem__"):
        raise TypeError(f"{name} is a sequence of str, not {type(values).__name__}")
    return tuple(values)
