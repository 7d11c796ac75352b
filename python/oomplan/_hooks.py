"""Diagnoses where an error ends a program, and in notebooks."""

from __future__ import annotations

import shlex
import sys
from types import TracebackType
from typing import Any

from oomplan._watching import is_out_of_memory, say_diagnosis


class _Hook:
    """The hook that was there, then the diagnosis."""

    def __init__(self, before: Any) -> None:
        self._before = before

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        self._before(kind, error, trace)
        if is_out_of_memory(error):
            say_diagnosis(error)


def install_excepthook() -> None:
    """Of an out-of-memory error that ends the program, prints the diagnosis after the traceback. Once is enough."""
    if not isinstance(sys.excepthook, _Hook):
        sys.excepthook = _Hook(sys.excepthook)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext oomplan`: `%oomplan estimate train.yaml --gpu rtx-4090`, and the diagnosis below a traceback."""
    ipython.register_magic_function(_magic, "line", "oomplan")
    ipython.set_custom_exc((RuntimeError,), _show)  # torch.OutOfMemoryError is one


def _magic(line: str) -> None:
    """What the program prints for these words."""
    from oomplan._asking import Reply

    reply = Reply(shlex.split(line))
    print(reply.out, end="")
    print(reply.err, end="", file=sys.stderr)


def _show(shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: int | None = None) -> None:
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if is_out_of_memory(error):
        say_diagnosis(error)
