"""Reads datasets within a budget of memory, and tells their rows apart, by the C++ of oomplan's own commands.

`streaming_dataset_reader` and `deduplicate_indices` take what the functions of these names in fast-axolotl take, and
give what they give. See docs/python.md.
"""

from oomplan import _libraries

_libraries.load()

from oomplan._dedupe import deduplicate_indices  # noqa: E402
from oomplan._errors import DataError, SkippedRow  # noqa: E402
from oomplan._reader import streaming_dataset_reader  # noqa: E402

__all__ = ["DataError", "SkippedRow", "deduplicate_indices", "streaming_dataset_reader"]
