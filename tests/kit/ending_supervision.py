"""The server with a fault: what restarts its embedded store breaks when it is told to, by SIGUSR1.

`python -m kit.ending_supervision`, with the server's own flags.
"""

import sys

from kit.ending_duty import breaks


def main() -> None:
    from saratoga_server.__main__ import main as serve
    from saratoga_server.embedded_store.process import StoreProcess

    StoreProcess.wait = breaks  # type: ignore[method-assign]
    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
