"""A door where callers are known from the first moment, and several workers each let in their share.

`asyncio` shows a connection when the hands of TLS are shaken: until then a stranger would hold a file
that nobody has counted. So connections are taken here, and counted before the first byte.

All workers listen on one socket, and whoever is quickest lets the next player in: left to itself, one of
them ends up with most of the players. So who has more connections than another waits for a moment,
and only then takes who has still not been let in. A worker that hangs or dies costs a player that
moment, and nothing else.

Stands in for `asyncio.Server` behind `websockets`' server.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from saratoga_server.logs import EventLog
from saratoga_server.process.census import Census

BACKLOG: Final = 1024
"""Connections that may wait to be let in."""

SLACK: Final = 1
"""Connections more than another that a worker may have and still be as quick."""

MOMENT: Final = 0.004
"""Seconds that a worker waits for one that has fewer; an idle one needs less than one millisecond."""

OUT_OF_FILES: Final = 0.5
"""Seconds before the next try when no more files may be open, or nobody can be let in at all."""

_GONE: Final = frozenset(
    {errno.ENETDOWN, errno.EPROTO, errno.ENOPROTOOPT, errno.EHOSTDOWN, errno.ENONET}
    | {errno.EHOSTUNREACH, errno.EOPNOTSUPP, errno.ENETUNREACH}
)
"""Faults of the one connection that waited, which accept(2) on Linux hands on, and lets it go."""

log = EventLog("door")


_Guest = TypeVar("_Guest", bound=asyncio.Protocol)


class Doorkeeper(Protocol[_Guest]):
    """Who is told of everybody who calls."""

    def called(self, connection: socket.socket, address: object) -> _Guest:
        """Somebody stands outside; returns who takes the connection once it is fit for use."""
        ...

    def turned_back(self, guest: _Guest) -> None:
        """It never was: whoever called speaks no TLS, or has gone."""
        ...

    def count(self) -> int:
        """How many are inside."""
        ...


async def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets for a door, not listened on yet; a name may have several. Raises `OSError`."""
    server = await asyncio.get_running_loop().create_server(
        asyncio.Protocol, host, port, start_serving=False
    )
    try:
        return [socket.socket(fileno=os.dup(each.fileno())) for each in server.sockets]
    finally:
        server.close()


class FairDoor(Generic[_Guest]):
    """A listening socket, as this process serves it, alone or as one of several workers."""

    def __init__(
        self,
        door: socket.socket,
        keeper: Doorkeeper[_Guest],
        census: Census | None,
        tls: Mapping[str, Any],
    ) -> None:
        """`tls` is what asyncio takes for it; without a `census` nobody else lets in here."""
        self._door = door
        self._keeper = keeper
        self._census = census
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._coming: set[asyncio.Task[None]] = set()
        self._is_open = False
        self._told: set[int | None] = set()
        """Faults that are in the log already; none once somebody was let in again."""

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        return (self._door,) if self._is_open else ()

    def open(self, backlog: int = BACKLOG) -> None:
        """Begin to listen. Raises `OSError` if somebody else does."""
        self._door.setblocking(False)
        self._door.listen(backlog)
        self._is_open = True
        if self._census is not None:
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
        return self._keeper.count() + len(self._coming)

    def _called(self) -> None:
        """Somebody waits outside."""
        here = self._here()
        if self._census is not None:
            self._census.tell(here)
        if self._census is None or here <= self._census.least() + SLACK:
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
            connection, address = self._door.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        except OSError as fault:
            if fault.errno not in _GONE:
                if fault.errno not in self._told:
                    log.error("nobody_let_in", reason=str(fault))
                self._told.add(fault.errno)
                self._look_away(OUT_OF_FILES)
            return
        self._told.clear()
        guest = self._keeper.called(connection, address)
        coming = self._loop.create_task(self._take_in(connection, guest))
        self._coming.add(coming)
        coming.add_done_callback(self._coming.discard)

    async def _take_in(self, connection: socket.socket, guest: _Guest) -> None:
        connection.setblocking(False)
        try:
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(lambda: guest, connection, **self._tls)
        except (OSError, TimeoutError) as fault:
            log.debug("not_let_in", reason=str(fault))
            connection.close()
            self._keeper.turned_back(guest)
