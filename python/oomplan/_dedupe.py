"""Which texts are the first of their kind."""

from collections.abc import Sequence
from hashlib import sha256

from oomplan import _arguments, _native


def deduplicate_indices(rows, existing_hashes=None, num_threads=0):
    """The indices of rows that differ from all before them, and their hashes: SHA-256 in hex, as fast-axolotl has them.

    Rows whose hash is in `existing_hashes` are left out. Within `rows` the 128-bit hash of oomplan's dedupe tells rows
    apart, so that SHA-256 is of each different row only once.
    """
    _arguments.count("num_threads", num_threads, least=0)
    indices = _native.first_texts(tuple(_sequence("rows", rows)))
    hashes = [sha256(rows[index].encode()).hexdigest() for index in indices]
    if not existing_hashes:
        return indices, hashes
    known = set(_sequence("existing_hashes", existing_hashes))
    new = [(index, digest) for index, digest in zip(indices, hashes) if digest not in known]
    return [index for index, _ in new], [digest for _, digest in new]


def _sequence(name, value):
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"{name} is a sequence of str, not {type(value).__name__}")
    return value
