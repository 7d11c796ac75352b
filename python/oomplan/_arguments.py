"""Checks of what callers pass."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import SupportsIndex

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def count(name: str, value: SupportsIndex, least: int) -> int:
    """A whole number of at least `least`. Negative and huge ones are OverflowError, as fast-axolotl has it."""
    number = operator.index(value)
    if number < 0:
        raise OverflowError(f"{name} cannot be negative")
    if number >= 1 << 63:
        raise OverflowError(f"{name} is too large")
    if number < least:
        raise ValueError(f"{name} must be greater than {least - 1}")
    return number


def budget(value: str | SupportsIndex) -> str:
    """256MiB, or a number of bytes."""
    return value if isinstance(value, str) else f"{operator.index(value)}B"


def skips(on_error: str) -> bool:
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error is stop or skip, not {on_error!r}")
    return on_error == "skip"


def paths(value: Path | Iterable[Path]) -> list[bytes]:
    """One path or several, as bytes."""
    several = [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)
    return [os.fsencode(path) for path in several]
