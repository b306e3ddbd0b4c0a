"""Drain: close all connections of a node in batches, so that not all reconnect elsewhere at once.

Connections with a running race are closed first, table by table: they suffer most from a pause, and
the other nodes are not busy with reconnections yet. If closing takes too long, the connections that
are aborted without a close frame are those of watchers.
"""

import random
from collections.abc import Callable, Iterable
from typing import Final

from saratoga_server.transport.connection import PlayerConnection

BATCH: Final = 10
"""Connections that are closed together."""

PAUSE: Final = 0.08
"""Seconds between two batches, on average. A node can take over 125 connections a second beside its
own players (a hello, a seat and a snapshot of the table each)."""

LONGEST: Final = 8.0
"""The most seconds that all batches together may take."""


def batches(
    connections: Iterable[PlayerConnection], is_racing: Callable[[PlayerConnection], bool]
) -> list[list[PlayerConnection]]:
    """Return the connections in the order in which they are closed."""

    def place(connection: PlayerConnection) -> tuple[bool, bool, str]:
        seat = None if connection.session is None else connection.session.seat
        return not is_racing(connection), seat is None, seat or ""

    order = sorted(connections, key=place)
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def pauses(count: int, chance: Callable[[], float] = random.random) -> list[float]:
    """Return the seconds to wait after each of `count` batches; none after the last.

    `chance` returns a random number from 0 to 1.
    """
    mean = min(PAUSE, LONGEST / max(count, 1))
    # random, so that nodes that drain at the same time do not stay in step
    return [mean * (0.5 + chance()) for _ in range(count - 1)] + [0.0] * (count > 0)
