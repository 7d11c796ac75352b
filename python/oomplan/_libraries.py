"""Loads Arrow's libraries: those of the pyarrow that this Python has, so that a process never has two.

The module names them without a path. The loader takes a library of that name that is in the process already, whoever
loads it first: this file, or pyarrow. pyarrow itself is not imported for it, which would take time and memory.
"""

import ctypes
import importlib.util
import pathlib

from oomplan._arrow_libraries import NAMES


def load() -> None:
    if NAMES is None:
        raise ImportError(
            "this oomplan was built without its reader of datasets, which needs pyarrow, simdjson and xxHash when it is"
            " built; `oomplan self-check` and docs/install.md say more"
        )
    found = importlib.util.find_spec("pyarrow")
    folder = pathlib.Path(found.origin).parent if found and found.origin else None
    for name in NAMES:
        if folder is None:
            raise ImportError("reading datasets needs pyarrow: pip install 'oomplan[data]'")
        if not (folder / name).exists():
            raise ImportError(
                f"oomplan was built with {name}, which is not in this Python's pyarrow ({folder})."
                " pip install --force-reinstall 'oomplan[data]' builds it anew"
            )
        ctypes.CDLL(str(folder / name))
