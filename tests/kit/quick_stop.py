"""A server that must stop within seconds: `python -m kit.quick_stop`, with the server's options."""

import sys
from typing import Final

STOP_WITHIN: Final = 5.0
ABORT_WITHIN: Final = 3.0

MODULE: Final = "kit.quick_stop"
"""The module to run for such a server."""


def main() -> None:
    from saratoga_server.__main__ import main as serve
    from saratoga_server.process import shutdown

    vars(shutdown).update(STOP_WITHIN=STOP_WITHIN, ABORT_WITHIN=ABORT_WITHIN)
    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
