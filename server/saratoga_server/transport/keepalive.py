"""Keep-alive: `Alive` events to every client, and pings to silent ones.

A few clients are served in each turn of the event loop, or they would delay moves.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Alive
from saratoga_server.logs import EventLog
from saratoga_server.transport.connection import PlayerConnection

ALIVE_EVERY: Final = 2.0
"""Seconds between two `Alive` events, which also reveal slow readers."""

PORTION: Final = 16
"""The most connections served in one turn of the event loop: half a millisecond."""

MOST_PORTIONS: Final = 6
"""The most portions served in one turn, if the event loop is busy and has few turns."""

log = EventLog("transport")


def portions_of(connections: int) -> int:
    """Return the number of portions into which so many connections are divided."""
    return max(1, math.ceil(connections / PORTION))


class KeepAlive:
    """A task that sends `Alive` events and pings to the open connections in turn."""

    def __init__(self, connections: "dict[PlayerConnection, None]", now: Callable[[], int]) -> None:
        """`connections`: the gateway's open connections; `now`: the server's milliseconds."""
        self._connections = connections
        self._now = now

    async def run(self) -> None:
        """Serve all connections every `ALIVE_EVERY` seconds; never return."""
        due = time.monotonic()
        while True:
            portions = portions_of(len(self._connections))
            pause = ALIVE_EVERY / portions
            due += pause
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            # never catch up more than one round
            behind = min(time.monotonic() - due, ALIVE_EVERY)
            more = min(int(behind / pause), MOST_PORTIONS - 1)
            due = max(due + more * pause, time.monotonic() - ALIVE_EVERY)
            count = math.ceil(len(self._connections) / portions) * (1 + more)
            self._serve(list(islice(self._connections, count)))

    def _serve(self, some: Iterable[PlayerConnection]) -> None:
        now = time.monotonic()
        alive = Alive(now=self._now())
        frames = {name: codec.encode(alive) for name, codec in CODECS.items()}
        for connection in some:
            # to the end of the queue
            del self._connections[connection]
            self._connections[connection] = None
            try:
                if connection.session is not None:
                    connection.keep_alive(frames[connection.session.codec.subprotocol], now)
            except Exception as fault:  # one connection must not end the server
                log.error("server_fault", fault=fault)
                connection.cut()
