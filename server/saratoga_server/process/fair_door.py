"""One door for several workers, each of which lets in its share.

All workers listen on one socket, and whoever is quickest lets the next player in: left to itself, one of
them ends up with most of the players. So who has more connections than another waits for a moment,
and only then takes who has still not been let in. A worker that hangs or dies costs a player that
moment, and nothing else.

Stands in for `asyncio.Server` behind `websockets`' server.
"""

import asyncio
import errno
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

from saratoga_server.logs import EventLog
from saratoga_server.process.census import Census

SLACK: Final = 1
"""Connections more than another that a worker may have and still be as quick."""

MOMENT: Final = 0.004
"""Seconds that a worker waits for one that has fewer; an idle one needs less than one millisecond."""

OUT_OF_FILES: Final = 0.5
"""Seconds before the next try when no more files may be open."""

_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

log = EventLog("door")


class FairDoor:
    """A listening socket, as one of several workers serves it."""

    def __init__(
        self,
        door: socket.socket,
        factory: Callable[[], asyncio.Protocol],
        count: Callable[[], int],
        census: Census,
        tls: Mapping[str, Any],
    ) -> None:
        """`count` tells how many connections there are here; `tls` is what asyncio takes for it."""
        self._door = door
        self._factory = factory
        self._count = count
        self._census = census
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._coming: set[asyncio.Task[None]] = set()
        self._is_open = False

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        return (self._door,) if self._is_open else ()

    def open(self, backlog: int) -> None:
        """Begin to listen."""
        self._door.setblocking(False)
        self._door.listen(backlog)
        self._is_open = True
        self._census.tell(self._here())
        self._loop.add_reader(self._door, self._called)

    def close(self) -> None:
        """Let nobody in any more."""
        if self._pause is not None:
            self._pause.cancel()
        elif self._is_open:
            self._loop.remove_reader(self._door)
        self._is_open = False
        self._door.close()

    async def wait_closed(self) -> None:
        """Wait until whoever was just let in is known to the rest of the house."""
        await asyncio.gather(*self._coming)

    def is_serving(self) -> bool:
        return self._is_open

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    async def start_serving(self) -> None:
        """It does so since it is open."""

    def _here(self) -> int:
        return self._count() + len(self._coming)

    def _called(self) -> None:
        """Somebody waits outside."""
        here = self._here()
        self._census.tell(here)
        if here <= self._census.least() + SLACK:
            self._let_in()
        else:
            self._look_away(MOMENT)

    def _look_away(self, seconds: float) -> None:
        self._loop.remove_reader(self._door)
        self._pause = self._loop.call_later(seconds, self._look_again)

    def _look_again(self) -> None:
        self._pause = None
        self._loop.add_reader(self._door, self._called)
        self._let_in()

    def _let_in(self) -> None:
        """Let one in, if another worker has not."""
        try:
            connection, _ = self._door.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        except OSError as fault:
            if fault.errno not in _NO_FILES:
                raise
            log.error("nobody_let_in", reason=str(fault))
            self._look_away(OUT_OF_FILES)
            return
        coming = self._loop.create_task(self._take_in(connection))
        self._coming.add(coming)
        coming.add_done_callback(self._coming.discard)

    async def _take_in(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(self._factory, connection, **self._tls)
        except (OSError, TimeoutError) as fault:
            # who speaks no TLS, or is gone already
            log.debug("not_let_in", reason=str(fault))
            connection.close()
