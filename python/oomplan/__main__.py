"""The program: `oomplan …`, and `python -m oomplan …`."""

import os
import signal
import sys

from oomplan import _core


def find_arrow() -> str:
    """For the commands that read datasets; imported for them alone."""
    from oomplan import _libraries

    return _libraries.show()


def main() -> int:
    # Python would only note an interrupt until C++ comes back.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The program oomplan-data lies beside this file.
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oomplan")
    return _core.run([os.fsencode(word) for word in (program, *sys.argv[1:])], find_arrow)


if __name__ == "__main__":
    sys.exit(main())
