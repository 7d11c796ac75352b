"""Checks of what callers pass."""

import operator
import os


def count(name, value, least):
    """A whole number of at least `least`. Negative and huge ones are OverflowError, as fast-axolotl has it."""
    number = operator.index(value)
    if number < 0:
        raise OverflowError(f"{name} cannot be negative")
    if number >= 1 << 63:
        raise OverflowError(f"{name} is too large")
    if number < least:
        raise ValueError(f"{name} must be greater than {least - 1}")
    return number


def budget(value):
    """256MiB, or a number of bytes."""
    return value if isinstance(value, str) else f"{operator.index(value)}B"


def skips(on_error):
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error is stop or skip, not {on_error!r}")
    return on_error == "skip"


def paths(value):
    """One path or several, as bytes."""
    several = [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)
    return [os.fsencode(path) for path in several]
