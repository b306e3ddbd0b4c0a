"""The server with a supervision of its embedded store that fails at SIGUSR1.

`python -m kit.failing_supervision`, with the server's own flags.
"""

import sys

from kit.failing_task import fail_at_signal


def main() -> None:
    from saratoga_server.__main__ import main as serve
    from saratoga_server.embedded_store.process import StoreProcess

    StoreProcess.wait = fail_at_signal  # type: ignore[method-assign]
    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
