"""Arrow's libraries: those of the pyarrow that this Python has, so that a process never has two.

The modules name them without a path. The loader takes a library of that name that is in the process already, whoever
loads it first: this file, or pyarrow. pyarrow itself is not imported for it, which would take time and memory.
"""

import ctypes
import importlib.util
import os
import pathlib

from oomplan._arrow_libraries import NAMES


def found() -> list[pathlib.Path]:
    """Raises ImportError where they are not there."""
    if NAMES is None:
        raise ImportError(
            "this oomplan was built without its reader of datasets, which needs pyarrow when it is built;"
            " `oomplan self-check` and docs/install.md say more"
        )
    spec = importlib.util.find_spec("pyarrow")
    if spec is None or not spec.origin:
        raise ImportError("reading datasets needs pyarrow: pip install 'oomplan[data]'")
    folder = pathlib.Path(spec.origin).parent
    for name in NAMES:
        if not (folder / name).exists():
            raise ImportError(
                f"oomplan was built with {name}, which is not in this Python's pyarrow ({folder})."
                " pip install --force-reinstall 'oomplan[data]' builds it anew"
            )
    return [folder / name for name in NAMES]


def load() -> None:
    for path in found():
        ctypes.CDLL(str(path))


def show() -> str:
    """To the program that reads datasets, which looks beside this package: where pyarrow is installed elsewhere.

    What is missing, or "".
    """
    try:
        folder = str(found()[0].parent)
    except ImportError as error:
        return str(error)
    beside = pathlib.Path(__file__).parents[1] / "pyarrow"
    if not (beside.exists() and os.path.samefile(folder, beside)):
        before = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = f"{folder}:{before}" if before else folder
    return ""
