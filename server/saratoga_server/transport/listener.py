"""Listening sockets that count connections before TLS is negotiated.

`loop.create_server` reports a connection only after TLS; until then a client would hold an open
file that is not counted. So connections are accepted here, by one task for each listening socket.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from typing import Any, Final

from saratoga_server.logs import EventLog
from saratoga_server.rate_limits.addresses import NO_ADDRESS
from saratoga_server.transport.connection import PlayerConnection

BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""

RETRY_AFTER: Final = 0.5
"""Seconds before the next attempt if accepting fails, for example with too many open files."""

PEER_FAULTS: Final = frozenset(
    {errno.ENETDOWN, errno.EPROTO, errno.ENOPROTOOPT, errno.EHOSTDOWN, errno.ENONET}
    | {errno.EHOSTUNREACH, errno.EOPNOTSUPP, errno.ENETUNREACH, errno.ECONNABORTED}
)
"""Errors of a single waiting connection, which accept(2) on Linux reports and drops."""

log = EventLog("listener")

Accept = Callable[[socket.socket, str], PlayerConnection]
"""A function that creates the connection for an accepted socket and its peer's address."""


async def bind(host: str, port: int) -> list[socket.socket]:
    """Return bound sockets, one for each address of the host name. Raises `OSError`."""
    server = await asyncio.get_running_loop().create_server(
        asyncio.Protocol, host, port, start_serving=False
    )
    try:
        return [socket.socket(fileno=os.dup(each.fileno())) for each in server.sockets]
    finally:
        server.close()


class Listener:
    """A listener that accepts connections from one bound socket until it is closed."""

    def __init__(self, bound: socket.socket, accept: Accept, tls: dict[str, Any]) -> None:
        """Begin to listen; `tls`: asyncio's arguments for TLS. Raises `OSError`."""
        self._socket = bound
        self._accept = accept
        self._tls = tls
        self._connecting: set[asyncio.Task[None]] = set()
        self._last_fault: int | None = None
        bound.setblocking(False)
        bound.listen(BACKLOG)
        self._accepting = asyncio.create_task(self._accept_all())

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    def close(self) -> None:
        """Stop accepting connections."""
        self._accepting.cancel()
        self._accepting.add_done_callback(lambda _: self._socket.close())

    async def closed(self) -> None:
        """Wait until the last accepted connection is connected, or has failed to connect."""
        await asyncio.gather(self._accepting, *self._connecting, return_exceptions=True)

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(self._socket)
            except OSError as fault:
                if fault.errno not in PEER_FAULTS:
                    await self._wait_after(fault)
                continue
            self._last_fault = None
            peer = str(address[0]) if isinstance(address, tuple) else NO_ADDRESS
            try:
                self._connect_soon(accepted, peer)
            except Exception as fault:  # one connection must not end the accepting of others
                log.error("server_fault", fault=fault)
                accepted.close()
            # accept one connection per turn of the loop
            await asyncio.sleep(0)

    def _connect_soon(self, accepted: socket.socket, peer: str) -> None:
        connection = self._accept(accepted, peer)
        connecting = asyncio.create_task(self._connect(accepted, connection))
        self._connecting.add(connecting)
        connecting.add_done_callback(self._connecting.discard)

    async def _wait_after(self, fault: OSError) -> None:
        if fault.errno != self._last_fault:
            log.error("accept_failed", reason=str(fault))
        self._last_fault = fault.errno
        await asyncio.sleep(RETRY_AFTER)

    async def _connect(self, accepted: socket.socket, connection: PlayerConnection) -> None:
        """Negotiate TLS, if it is used, and give the connection its transport."""
        loop = asyncio.get_running_loop()
        try:
            if accepted.family != socket.AF_UNIX:
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.connect_accepted_socket(lambda: connection, accepted, **self._tls)
        except (OSError, TimeoutError) as fault:
            log.debug("connect_failed", reason=str(fault))
            accepted.close()
            connection.never_connected()
