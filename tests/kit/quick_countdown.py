"""A server with a countdown of one second: `python -m kit.quick_countdown`, with the server's options.

Tests that wait for whole races use it, because the usual countdown lasts five seconds.
"""

import sys
from typing import Final

from saratoga_server.domain.tables import countdown

CALL_MILLIS: Final = 100
REVEAL_MILLIS: Final = 900
COUNTDOWN_MILLIS: Final = 1_000

MODULE: Final = "kit.quick_countdown"
"""The module that `running_server(module=...)` runs for a server with a short countdown."""


def shorten_countdown(reveal_millis: int = REVEAL_MILLIS) -> None:
    """Shorten call and countdown; racers must reveal within `reveal_millis`."""
    vars(countdown).update(
        CALL_MILLIS=CALL_MILLIS, REVEAL_MILLIS=reveal_millis, COUNTDOWN_MILLIS=COUNTDOWN_MILLIS
    )


def main() -> None:
    shorten_countdown()
    from saratoga_server.__main__ import main as serve

    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
