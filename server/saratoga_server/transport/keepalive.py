"""Signs of life to every client, a few at a time, and pings for those that give none.

All through a round a few clients are served in each turn of the event loop: a thousand at once
would hold moves up.
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
"""Seconds between two signs of life; they also give the slow reader detector something to see."""

PORTION: Final = 16
"""Connections, at most, that are served in one turn of the event loop: half a millisecond."""

MOST_PORTIONS: Final = 6
"""In one turn, where the loop is so busy that it has too few turns for one portion each."""

log = EventLog("transport")


def portions_of(connections: int) -> int:
    """Return in how many portions so many connections are served every `ALIVE_EVERY`."""
    return max(1, math.ceil(connections / PORTION))


class KeepAlive:
    """Serves the open connections in turn."""

    def __init__(self, connections: "dict[PlayerConnection, None]", now: Callable[[], int]) -> None:
        """`connections`: the open ones, kept by the gateway; `now`: the server's milliseconds."""
        self._connections = connections
        self._now = now

    async def run(self) -> None:
        """Serve all again and again; never returns."""
        due = time.monotonic()
        while True:
            portions = portions_of(len(self._connections))
            pause = ALIVE_EVERY / portions
            due += pause
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            # no more is made up for than a round
            behind = min(time.monotonic() - due, ALIVE_EVERY)
            more = min(int(behind / pause), MOST_PORTIONS - 1)
            due = max(due + more * pause, time.monotonic() - ALIVE_EVERY)
            count = math.ceil(len(self._connections) / portions) * (1 + more)
            self._serve(list(islice(self._connections, count)))

    def _serve(self, some: Iterable[PlayerConnection]) -> None:
        now = time.monotonic()
        alive = Alive(now=self._now())
        frames = {name: codec.encode_event(alive) for name, codec in CODECS.items()}
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
