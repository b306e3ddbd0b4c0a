"""A server with a countdown of one second in which a racer may reveal late: `python -m kit.unhurried_countdown`.

A race starts as soon as every nonce is open, so the longer time costs nothing. Without it, a browser that was
held up for a second would void the countdown.
"""

import sys
from typing import Final

from kit.quick_countdown import shorten_countdown

REVEAL_MILLIS: Final = 20_000

MODULE: Final = "kit.unhurried_countdown"


def main() -> None:
    shorten_countdown(REVEAL_MILLIS)
    from saratoga_server.__main__ import main as serve

    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
