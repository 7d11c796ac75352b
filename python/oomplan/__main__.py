"""The program: `oomplan …`, and `python -m oomplan …`."""

import os
import signal
import sys

from oomplan import _core


def main() -> int:
    # Python would only note an interrupt until C++ comes back.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] and sys.argv[1] in ("stream", "dedupe", "measure"):
        from oomplan import _libraries

        try:
            _libraries.show()
        except ImportError as error:
            print(f"error: {error} [cli/no-data-program]", file=sys.stderr)
            return 3
    # The program oomplan-data lies beside this file.
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oomplan")
    return _core.run([os.fsencode(word) for word in (program, *sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
