"""Questions to the C++ library, which answers as the program does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from oomplan import _core
from oomplan._errors import Bug, ConfigError, OomplanError, Undecided, UsageError

ERRORS: dict[int, type[OomplanError]] = {2: UsageError, 3: ConfigError, 4: Undecided, 5: Bug}


class Reply:
    """Exit code and both streams of a command line."""

    __slots__ = ("code", "err", "out")

    def __init__(self, words: Iterable[str | os.PathLike[str]], given: bytes = b"") -> None:
        encoded = [os.fsencode(word) for word in words]
        self.code, out, err = _core.reply(encoded, given)
        self.out: str = out.decode("utf-8", "surrogateescape")
        self.err: str = err.decode("utf-8", "surrogateescape")


def line_of(diagnostic: Mapping[str, Any]) -> str:
    """One diagnostic as the program prints it, without its excerpt."""
    place = [diagnostic.get("file"), diagnostic.get("line"), diagnostic.get("column")]
    where = "".join(f"{part}:" for part in place if part) if place[0] else ""
    hint = f"\n    hint: {diagnostic['hint']}" if diagnostic.get("hint") else ""
    return f"{where}{' ' if where else ''}{diagnostic['severity']}: {diagnostic['message']} [{diagnostic['code']}]{hint}"


def error_of(code: int, diagnostics: list[dict[str, Any]], text: str = "") -> OomplanError:
    """The exception of an exit code, with its diagnostics."""
    errors = [one for one in diagnostics if one["severity"] == "error"]
    text = text.strip() or "\n".join(map(line_of, errors)) or "oomplan cannot answer"
    return ERRORS.get(code, OomplanError)(text, diagnostics)


def answered(reply: Reply, *, also: tuple[int, ...] = ()) -> dict[str, Any]:
    """The object of a reply in JSON. Raises where its exit code is neither 0, 1 nor one of `also`."""
    try:
        found: dict[str, Any] = json.loads(reply.out)
    except ValueError:
        raise error_of(reply.code if reply.code in ERRORS else 5, [], reply.err or reply.out) from None
    if reply.code not in (0, 1, *also):
        raise error_of(reply.code, found.get("diagnostics") or [], reply.err)
    return found


def several(value: Any) -> list[Any]:
    """One thing or a list of them; None is none."""
    if value is None:
        return []
    return [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)


def scalar(value: Any) -> str:
    """A value as --set takes it."""
    return value if isinstance(value, str) else json.dumps(value)


def options(**named: Any) -> list[Any]:
    """Options of the command line: `gpu=["a", "b"]` is --gpu a --gpu b; None and False are left out."""
    out: list[Any] = []
    for name, value in named.items():
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            out.append(option)
        elif isinstance(value, Mapping):
            out += [part for key, one in value.items() for part in (option, f"{key}={scalar(one)}")]
        else:
            # With "=" a value may begin with a dash.
            out += [f"{option}={os.fspath(one) if isinstance(one, os.PathLike) else one}" for one in several(value)]
    return out
