"""Accepts connections, and counts each from its first moment.

`asyncio` reports a connection after its TLS handshake: until then it would hold a file descriptor that
nothing limits. So connections are accepted here, and counted before their first byte.

Stands in for `asyncio.Server` behind `websockets`' server.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from saratoga_server.logs import EventLog

BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""

OUT_OF_FILES: Final = 0.5
"""Seconds before the next attempt when no connection can be accepted."""

_GONE: Final = frozenset(
    {errno.ENETDOWN, errno.EPROTO, errno.ENOPROTOOPT, errno.EHOSTDOWN, errno.ENONET}
    | {errno.EHOSTUNREACH, errno.EOPNOTSUPP, errno.ENETUNREACH}
)
"""Errors of the waiting connection itself, which accept(2) on Linux reports and then drops."""

log = EventLog("door")

_Guest = TypeVar("_Guest", bound=asyncio.Protocol)


class Doorkeeper(Protocol[_Guest]):
    """Is told of every connection."""

    def called(self, connection: socket.socket, address: object) -> _Guest:
        """Return the protocol of an accepted connection, used once TLS has shaken hands."""
        ...

    def turned_back(self, guest: _Guest) -> None:
        """Forget a connection whose TLS handshake failed."""
        ...


async def bind(host: str, port: int) -> list[socket.socket]:
    """Bind sockets that do not listen yet; a host name may have several. Raises `OSError`."""
    server = await asyncio.get_running_loop().create_server(
        asyncio.Protocol, host, port, start_serving=False
    )
    try:
        return [socket.socket(fileno=os.dup(each.fileno())) for each in server.sockets]
    finally:
        server.close()


class Acceptor(Generic[_Guest]):
    """A listening socket and the connections that are being accepted from it."""

    def __init__(
        self, listener: socket.socket, keeper: Doorkeeper[_Guest], tls: Mapping[str, Any]
    ) -> None:
        """`tls` holds the arguments for asyncio; empty: no TLS."""
        self._listener = listener
        self._keeper = keeper
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._handshakes: set[asyncio.Task[None]] = set()
        self._is_open = False
        self._logged: set[int | None] = set()
        """Errors already logged since a connection was last accepted."""

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        return (self._listener,) if self._is_open else ()

    def open(self, backlog: int = BACKLOG) -> None:
        """Begin to listen. Raises `OSError` if the address is in use."""
        self._listener.setblocking(False)
        self._listener.listen(backlog)
        self._is_open = True
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        """Accept no more connections."""
        if self._pause is not None:
            self._pause.cancel()
        elif self._is_open:
            self._loop.remove_reader(self._listener)
        self._is_open = False
        self._listener.close()

    async def wait_closed(self) -> None:
        """Wait for the handshakes under way."""
        await asyncio.gather(*self._handshakes)

    def is_serving(self) -> bool:
        return self._is_open

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    async def start_serving(self) -> None:
        """Do nothing: `open` has begun to listen."""

    def _accept(self) -> None:
        try:
            connection, address = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        except OSError as fault:
            if fault.errno not in _GONE:
                if fault.errno not in self._logged:
                    log.error("nobody_let_in", reason=str(fault))
                self._logged.add(fault.errno)
                self._loop.remove_reader(self._listener)
                self._pause = self._loop.call_later(OUT_OF_FILES, self._resume)
            return
        self._logged.clear()
        guest = self._keeper.called(connection, address)
        handshake = self._loop.create_task(self._shake_hands(connection, guest))
        self._handshakes.add(handshake)
        handshake.add_done_callback(self._handshakes.discard)

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listener, self._accept)

    async def _shake_hands(self, connection: socket.socket, guest: _Guest) -> None:
        connection.setblocking(False)
        try:
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(lambda: guest, connection, **self._tls)
        except (OSError, TimeoutError) as fault:
            log.debug("not_let_in", reason=str(fault))
            connection.close()
            self._keeper.turned_back(guest)
