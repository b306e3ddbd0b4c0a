"""The gateway: accepts, checks and closes all connections of this node."""

import asyncio
import itertools
import socket
import ssl
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from msgspec import Struct
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from saratoga_protocol.codec import CODECS, MAX_COMMAND_BYTES, SUBPROTOCOLS
from saratoga_protocol.refusals import RESTARTING, CloseCode
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.config import Config, StartupError
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.rate_limits.limiter import Quota, RateLimiter
from saratoga_server.transport.admission import Admission, Pages, is_handshake
from saratoga_server.transport.command_runner import CommandRunner
from saratoga_server.transport.connection import CLOSE_WITHIN, PlayerConnection
from saratoga_server.transport.drain import batches, pauses
from saratoga_server.transport.handshake import Handshake
from saratoga_server.transport.hosts import Hosts
from saratoga_server.transport.http_responses import refusal_page, response
from saratoga_server.transport.keepalive import KeepAlive
from saratoga_server.transport.listener import Listener, bind
from saratoga_server.transport.response_budget import ResponseBudget

TLS_WITHIN: Final = 5.0
"""Seconds to negotiate TLS."""

WATCH_EVERY: Final = 0.25
"""Seconds between two checks of every connection."""

LOOKED_AT_AT_ONCE: Final = 100
"""Connections checked in one turn of the event loop: a tenth of a millisecond."""

FOREIGN_PAGE: Final = (
    "A web page may connect only to the server that it came from, by one of that server's names. The operator "
    "names others with --public-url or --origin."
)

log = EventLog("gateway")


class GatewaySettings(Struct, frozen=True, kw_only=True):
    """The settings of the gateway: where it listens, and its limits."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    hosts: Hosts = Hosts()
    """The names of this server, and the web pages that may connect."""
    rate: float = 50
    burst: float = 100
    trusted_proxies: int = 0
    """The number of the operator's proxies that every connection passes."""
    per_address: float | None = 1.0
    """The factor for the limits per address (`Config.limits_per_address`); `None`: no limits."""


def gateway_settings(config: Config) -> GatewaySettings:
    """Return the gateway's settings. Raises `StartupError` for a bad certificate."""
    return GatewaySettings(
        host=config.host,
        port=config.port,
        tls=_tls(config),
        hosts=Hosts(public_url=config.public_url, origins=config.origins, is_tls=config.is_tls),
        rate=config.rate,
        burst=config.burst,
        trusted_proxies=config.trusted_proxies,
        per_address=config.limits_per_address,
    )


def _tls(config: Config) -> ssl.SSLContext | None:
    if config.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # an empty password, because OpenSSL would ask for that of a key at the terminal
        context.load_cert_chain(config.tls_cert, config.tls_key, password="")
    except OSError as error:
        raise StartupError(
            f"The certificate {config.tls_cert} cannot be used with the key {config.tls_key} "
            f"({error.strerror or error}). Give --tls-cert a PEM file with the certificate chain, and "
            "--tls-key one with its private key, without a password."
        ) from None
    return context


class Gateway:
    """The connections of this node, and the parts that they share."""

    def __init__(
        self, commands: Dispatcher, settings: GatewaySettings, pages: Pages, metrics: Metrics
    ) -> None:
        self._commands = commands
        self._settings = settings
        self._metrics = metrics
        self._limiter = RateLimiter(
            time.monotonic,
            factor=settings.per_address,
            rate=settings.rate,
            burst=settings.burst,
            behind_proxies=settings.trusted_proxies > 0,
            on_refused=lambda action: metrics.limited.labels(action).inc(),
        )
        self.budget = ResponseBudget()
        self._admission = Admission(self._limiter, settings.trusted_proxies, pages, self.budget)
        self.runner = CommandRunner(commands, metrics, self.budget, most_overdrawn=settings.burst)
        self.connections: dict[PlayerConnection, None] = {}
        """All accepted connections."""
        self._open: dict[PlayerConnection, None] = {}
        """The connections with a session, the one served longest ago first."""
        self.keepalive = KeepAlive(self._open, commands.now)
        self._numbers = itertools.count(1)
        self._listeners: list[Listener] = []
        self._is_listening = True
        self._answering: dict[PlayerConnection, asyncio.Task[None]] = {}
        """The tasks that answer requests for pages, by connection."""
        self._tasks = BackgroundTasks()
        self._has_ended = asyncio.Event()
        """Set whenever a connection or a session has ended."""
        self._handshake_options: Final[dict[str, Any]] = {
            "subprotocols": [Subprotocol(name) for name in SUBPROTOCOLS],
            "max_size": MAX_COMMAND_BYTES,
        }

    # Listening

    async def open(self) -> int:
        """Start to listen; return the port. Raises `OSError`."""
        tls: dict[str, Any] = {}
        if self._settings.tls is not None:
            tls = {"ssl": self._settings.tls, "ssl_handshake_timeout": TLS_WITHIN}
        for bound in await bind(self._settings.host, self._settings.port):
            self._listeners.append(Listener(bound, self._accepted, tls))
        return self._listeners[0].port

    def _accepted(self, accepted: socket.socket, peer: str) -> PlayerConnection:
        connection = PlayerConnection(self, accepted, peer)
        self.connections[connection] = None
        return connection

    # What connections call

    def count(self, connection: PlayerConnection) -> Quota:
        """Count a new connection at its address, and return its quota."""
        address = self._admission.counted_address(connection.address)
        return self._limiter.open(address, connection)

    def handshake(self, connection: PlayerConnection) -> Handshake:
        """Return the handshake that reads the first request of a connection."""
        protocol = ServerProtocol(**self._handshake_options)
        return Handshake(connection, partial(self._requested, connection), protocol)

    def _requested(
        self, connection: PlayerConnection, handshake: Handshake, request: Request
    ) -> None:
        refusal = self._admission.refusal(connection, request)
        if refusal is not None:
            handshake.respond(refusal)
        elif not is_handshake(request):
            # nothing more is read until the answer is written
            connection.pause_reading()
            answering = asyncio.create_task(self._answer(connection, handshake, request))
            self._answering[connection] = answering
        elif not self._is_listening:
            page = refusal_page(
                HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", "This server is about to stop."
            )
            handshake.respond(response(page, "GET"))
        elif not self._settings.hosts.admits(request.headers):
            page = refusal_page(HTTPStatus.FORBIDDEN, "foreign_page", FOREIGN_PAGE)
            handshake.respond(response(page, "GET"))
        else:
            subprotocol = handshake.accept(request)
            if subprotocol is not None:
                self._begin_session(connection, subprotocol, handshake.rest)

    async def _answer(
        self, connection: PlayerConnection, handshake: Handshake, request: Request
    ) -> None:
        page = await self._admission.page(connection, request)
        del self._answering[connection]
        handshake.respond(page)

    def _begin_session(self, connection: PlayerConnection, subprotocol: str, rest: bytes) -> None:
        session = Session(
            connection=connection,
            codec=CODECS[subprotocol],
            address=connection.address,
            number=next(self._numbers),
            quota=connection.quota,
        )
        self._open[connection] = None
        self._commands.connected(session)
        connection.opened(session, rest)

    def stopped_reading(self) -> None:
        """Count a client that was aborted because it does not read."""
        self._metrics.slow_clients.inc()

    def lost(self, connection: PlayerConnection) -> None:
        """Forget a connection that has ended."""
        self._admission.ended(connection)
        if connection in self._answering:
            self._answering.pop(connection).cancel()
        del self.connections[connection]
        self._has_ended.set()

    def ended(self, connection: PlayerConnection, session: Session) -> None:
        """Handle the end of a session, after its last command."""
        del self._open[connection]
        self._tasks.spawn(self._commands.disconnected(session))
        self._has_ended.set()

    # Background work

    async def watch(self) -> None:
        """Check all connections periodically for timeouts and slow readers; never return."""
        while True:
            due = time.monotonic() + WATCH_EVERY
            await asyncio.sleep(WATCH_EVERY)
            now = time.monotonic()
            self._metrics.loop_lag.observe(max(0.0, now - due))
            for number, connection in enumerate(list(self.connections), start=1):
                if number % LOOKED_AT_AT_ONCE == 0:
                    await asyncio.sleep(0)
                self._check(connection, now)

    def _check(self, connection: PlayerConnection, now: float) -> None:
        try:
            connection.check(now)
        except Exception as fault:  # one connection must not end the server
            log.error("server_fault", fault=fault)
            connection.cut()

    # The end

    def stop_listening(self) -> None:
        """Stop accepting connections; a client in its handshake is answered 503."""
        self._is_listening = False
        for listener in self._listeners:
            listener.close()

    async def drain(
        self,
        code: CloseCode = RESTARTING,
        is_racing: Callable[[Session], bool] = lambda session: False,
    ) -> None:
        """Close all sessions in batches, each when its present command is answered."""

        def races(connection: PlayerConnection) -> bool:
            return connection.session is not None and is_racing(connection.session)

        order = batches(self._open, races)
        for batch, pause in zip(order, pauses(len(order)), strict=True):
            for connection in batch:
                connection.leave(code)
            await asyncio.sleep(pause)
        await self._emptied(self._open)

    async def close(self, code: CloseCode = RESTARTING) -> None:
        """Stop accepting connections, close all, and wait until they have ended."""
        self.stop_listening()
        for connection in list(self.connections):
            if connection.session is None:
                connection.cut()
            else:
                connection.close(code)
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._emptied(self.connections)
        except TimeoutError:
            self.cut()
            await self._emptied(self.connections)
        await self._emptied(self._open)
        for listener in self._listeners:
            await listener.closed()
        await self._tasks.finish()

    async def _emptied(self, connections: dict[PlayerConnection, None]) -> None:
        while connections:
            self._has_ended.clear()
            await self._has_ended.wait()

    def cut(self) -> None:
        """Abort every connection."""
        for connection in list(self.connections):
            connection.cut()
