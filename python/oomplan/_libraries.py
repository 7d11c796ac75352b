"""Loads Arrow's libraries: those of the pyarrow that this Python has, so that a process never has two.

The module names them without a path. The loader takes a library of that name that is in the process already, whoever
loads it first: this file, or pyarrow. pyarrow itself is not imported for it, which would take time and memory.
"""

import ctypes
import importlib.util
import pathlib

from oomplan._arrow_libraries import NAMES


def load():
    found = importlib.util.find_spec("pyarrow")
    folder = pathlib.Path(found.origin).parent if found and found.origin else None
    for name in NAMES:
        if folder is None or not (folder / name).exists():
            raise ImportError(
                f"oomplan was built with {name}, which is not in this Python's pyarrow"
                f" ({folder or 'there is none'}). pip install --force-reinstall oomplan builds it anew"
            )
        ctypes.CDLL(str(folder / name))
