"""A server that keeps few lines of an unread log, and has a short countdown.

Run it by `python -m kit.small_log_queue`, with the server's own options.
"""

from typing import Final

from kit import quick_countdown
from saratoga_server.process import log_writer

LIMIT: Final = 20

MODULE: Final = "kit.small_log_queue"
"""The module to run for such a server."""


def main() -> None:
    vars(log_writer).update(LIMIT=LIMIT)
    quick_countdown.main()


if __name__ == "__main__":
    main()
