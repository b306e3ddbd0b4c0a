"""A server on which boards end as idle after eight seconds, and the player's program with a server like it.

`python -m kit.quick_idleness` is the server, with the server's options. `python -m kit.quick_idleness player`
is `saratoga`, whose `host` starts such a server. Only the durations differ from those of the programs.
"""

import sys
from functools import partial
from typing import Final

IDLE_MILLIS: Final = 8_000
LOOK_MILLIS: Final = 250
WARNED_AT: Final = (3, 6)
"""Seconds before the end at which a player is warned; the last warning first."""

MODULE: Final = "kit.quick_idleness"


def shorten_idleness() -> None:
    """Shorten the time without activity, in the server and in the store's Functions."""
    from saratoga_rules.records import standing

    vars(standing).update(IDLE_MILLIS=IDLE_MILLIS)
    from saratoga_server.domain.tables import timers
    from saratoga_server.store import library

    source = library.SOURCE.replace("local IDLE = 180000", f"local IDLE = {IDLE_MILLIS}")
    assert source != library.SOURCE, "the Functions name the time in another way"
    vars(library).update(SOURCE=source)
    vars(timers).update(LOOK_MILLIS=LOOK_MILLIS)


def serve() -> None:
    from kit.quick_countdown import shorten_countdown

    shorten_countdown()
    shorten_idleness()
    from saratoga_server.__main__ import main

    sys.argv[0] = "saratoga-server"
    main()


def play() -> None:
    from saratoga_rules.records import standing

    vars(standing).update(IDLE_MILLIS=IDLE_MILLIS)
    from saratoga_client.local import hosting
    from saratoga_client.local.server_process import running_server
    from saratoga_client.session import activity

    vars(activity).update(WARNED_AT=WARNED_AT)
    program = (sys.executable, "-m", MODULE)
    vars(hosting).update(running_server=partial(running_server, program=program))
    from saratoga_client.__main__ import main

    sys.argv[:2] = ["saratoga"]
    main()


if __name__ == "__main__":
    play() if sys.argv[1:2] == ["player"] else serve()
