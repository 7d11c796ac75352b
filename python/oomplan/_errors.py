"""What goes wrong, as Python says it."""

from __future__ import annotations

from typing import Any


class OomplanError(Exception):
    """An answer that could not be given. Its text is what the command line prints.

    `code` is the stable name of the first error, which docs/manual.md lists ("ingest/unknown-key"); `place` is where it
    is ("train.yaml:12:3", "" where it has no place); `hint` says what to do, or is "". `diagnostics` are all of them, as
    the JSON of the program has them.
    """

    def __init__(self, text: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []
        first = next((one for one in self.diagnostics if one["severity"] == "error"), {})
        self.code: str = first.get("code") or ""
        self.hint: str = first.get("hint") or ""
        place = [first.get("file"), first.get("line"), first.get("column")]
        self.place: str = ":".join(str(part) for part in place if part) if place[0] else ""

    def __reduce__(self) -> Any:
        return type(self), (*self.args, self.diagnostics)


class UsageError(OomplanError, ValueError):
    """A question that makes no sense: an unknown GPU, an option that does not exist. Exit code 2 of the program."""


class ConfigError(OomplanError, ValueError):
    """A config, log or file that cannot be read, or is not valid. Exit code 3 of the program."""


class Undecided(OomplanError):
    """Something is not modelled, not known or not said, so that a number would be wrong. Exit code 4 of the program.

    `reasons` are the messages, one a cause.
    """

    @property
    def reasons(self) -> list[str]:
        found = [one["message"] for one in self.diagnostics if one["severity"] == "error"]
        return found or [str(self)]


class Bug(OomplanError, RuntimeError):
    """A bug of oomplan's own. Exit code 5 of the program."""


class DataError(RuntimeError):
    """A dataset that cannot be read. Its text is what the command line prints, with file, place and hint.

    `code` is the stable name of the error that docs/manual.md lists ("measure/bad-row"); `path` is the file.
    """

    def __init__(self, text: str, code: str = "", path: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.path = path

    def __reduce__(self) -> Any:
        return type(self), (*self.args, self.code, self.path)


class SkippedRow(UserWarning):
    """A row that was left out, or the rest of a file, as on_error="skip" wants it.

    `count` is how many this tells of: 1, or all beyond the first hundred of a piece that was read at once.
    """

    def __init__(self, text: str, count: int = 1) -> None:
        super().__init__(text)
        self.count = count
