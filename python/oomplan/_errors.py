"""What goes wrong, as Python says it."""


class DataError(RuntimeError):
    """A dataset that cannot be read. Its text is what the command line prints, with file, place and hint.

    `code` is the stable name of the error that docs/manual.md lists ("measure/bad-row"); `path` is the file.
    """

    def __init__(self, text, code="", path=""):
        super().__init__(text)
        self.code = code
        self.path = path

    def __reduce__(self):
        return type(self), (*self.args, self.code, self.path)


class SkippedRow(UserWarning):
    """A row that was left out, or the rest of a file, as on_error="skip" wants it.

    `count` is how many this tells of: 1, or all beyond the first hundred of a piece that was read at once.
    """

    def __init__(self, text, count=1):
        super().__init__(text)
        self.count = count
