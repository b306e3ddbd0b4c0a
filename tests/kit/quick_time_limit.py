"""A server whose minutes last four seconds, for races that end by their time limit.

`python -m kit.quick_time_limit` is the server, with the server's options. Its records name deadlines that do
not follow from their time limits, so players who check them raise an alarm.
"""

import sys
from typing import Final

from kit.quick_countdown import shorten_countdown
from kit.unhurried_countdown import REVEAL_MILLIS
from saratoga_server.domain.tables import countdown

MINUTE: Final = 4_000
"""Milliseconds of a minute of the time limit."""

MODULE: Final = "kit.quick_time_limit"


def main() -> None:
    shorten_countdown(REVEAL_MILLIS)
    vars(countdown).update(MINUTE=MINUTE)
    from saratoga_server.__main__ import main as serve

    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
