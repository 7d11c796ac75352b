"""Predicts whether a training run fits on a GPU, says why one ran out of memory, and reads datasets in bounded memory.

    oomplan.estimate("train.yaml", gpu="rtx-4090").fits("rtx-4090")

Everything is answered in this process by the C++ of the program `oomplan`, without its interpreter's lock. See
docs/python.md.
"""

from importlib import import_module

# Where each name lives; it is imported when it is first asked for, so that `import oomplan` takes a few milliseconds.
_PLACES = {
    "Answer": "_answers",
    "Bug": "_errors",
    "ConfigError": "_errors",
    "DataError": "_errors",
    "Diagnosis": "_answers",
    "Estimate": "_answers",
    "Fix": "_answers",
    "Gate": "_answers",
    "Measured": "_measure",
    "OomplanError": "_errors",
    "SkippedRow": "_errors",
    "Sweep": "_answers",
    "Undecided": "_errors",
    "UsageError": "_errors",
    "deduplicate_indices": "_dedupe",
    "diagnose": "_functions",
    "estimate": "_functions",
    "fix": "_functions",
    "gate": "_functions",
    "install_excepthook": "_hooks",
    "load_ipython_extension": "_hooks",
    "max_batch_size": "_functions",
    "measure": "_measure",
    "streaming_dataset_reader": "_reader",
    "sweep": "_functions",
}

# Without those that need pyarrow, which `from oomplan import *` must not.
__all__ = [*(name for name in _PLACES if _PLACES[name] not in ("_dedupe", "_reader")), "__version__"]  # noqa: PLE0604


def __getattr__(name):
    if name == "__version__":
        value = import_module("oomplan._core").version
    elif name in _PLACES:
        value = getattr(import_module(f"oomplan.{_PLACES[name]}"), name)
    else:
        raise AttributeError(f"module 'oomplan' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return __all__
