"""The program: `oomplan …`, and `python -m oomplan …`."""

import os
import signal
import sys

from oomplan import _core


def main() -> int:
    # Python would only note an interrupt until C++ comes back.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run([os.fsencode(word) for word in sys.argv])


if __name__ == "__main__":
    sys.exit(main())
