"""A server whose supervision of its embedded store fails after SIGUSR1.

Run it by `python -m kit.failing_supervision`, with the server's own options.
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
