"""The gateway: accepts, checks and closes all connections of this node."""

import asyncio
import itertools
import random
import ssl
import time
from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Final

from msgspec import Struct
from websockets.http11 import Request

from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import RESTARTING, CloseCode
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.config import Config, StartupError
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.limits import Quota, RateLimiter
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.transport.admission import Admission, Pages, is_handshake
from saratoga_server.transport.command_runner import CommandRunner
from saratoga_server.transport.connection import CLOSE_WITHIN, PlayerConnection
from saratoga_server.transport.hosts import Hosts
from saratoga_server.transport.http_responses import ResponseBudget, refusal_page, response

BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""
TLS_WITHIN: Final = 5.0
"""Seconds to negotiate TLS."""

WATCH_EVERY: Final = 0.25
"""Seconds between two looks at every connection."""
LOOKED_AT_AT_ONCE: Final = 50
"""Connections looked at in one turn of the event loop, six of which are sent something: 0.2 ms."""

BATCH: Final = 10
"""Connections that a drain closes together."""
PAUSE: Final = 0.08
"""Seconds between two batches, on average. A node can take over 125 connections a second beside its
own players (a hello, a seat and a snapshot of the table each)."""
LONGEST_DRAIN: Final = 8.0
"""The most seconds that all batches together may take."""

FOREIGN_PAGE: Final = (
    "A web page may connect only to the server that it came from, by one of that server's names. "
    "The operator names others with --public-url or --origin."
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
            f"({error.strerror or error}). Give --tls-cert a PEM file with the certificate chain, "
            "and --tls-key one with its private key, without a password."
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
        limiter = RateLimiter(
            time.monotonic,
            factor=settings.per_address,
            rate=settings.rate,
            burst=settings.burst,
            on_refused=lambda action: metrics.limited.labels(action).inc(),
        )
        self.budget = ResponseBudget()
        self._admission = Admission(limiter, settings.trusted_proxies, pages, self.budget)
        self.runner = CommandRunner(commands, metrics, self.budget, most_overdrawn=settings.burst)
        self.connections: set[PlayerConnection] = set()
        """All accepted connections."""
        self._sessions: set[Session] = set()
        """The sessions whose last command is not done."""
        self._numbers = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._is_listening = True
        self._answering: dict[PlayerConnection, asyncio.Task[None]] = {}
        """The tasks that answer requests for pages, by connection."""
        self._tasks = BackgroundTasks()
        self._has_ended = asyncio.Event()
        """Set whenever a connection or a session has ended."""

    async def open(self) -> int:
        """Start to listen; return the port. Raises `OSError`."""
        tls = self._settings.tls
        self._server = await asyncio.get_running_loop().create_server(
            lambda: PlayerConnection(self),
            self._settings.host,
            self._settings.port,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=TLS_WITHIN if tls else None,
        )
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    # What connections call

    def connected(self, connection: PlayerConnection) -> Quota:
        """Count a new connection at its address, and return its quota."""
        self.connections.add(connection)
        return self._admission.opened(connection)

    def requested(self, connection: PlayerConnection, request: Request) -> None:
        """Answer the first request of a connection, at once or later."""
        refusal = self._admission.refusal(connection, request)
        if refusal is not None:
            connection.respond(refusal)
        elif not is_handshake(request):
            self._answering[connection] = asyncio.create_task(self._answer(connection, request))
        elif not self._is_listening:
            page = refusal_page(
                HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", "This server is about to stop."
            )
            connection.respond(response(page, "GET"))
        elif not self._settings.hosts.admits(request.headers):
            page = refusal_page(HTTPStatus.FORBIDDEN, "foreign_page", FOREIGN_PAGE)
            connection.respond(response(page, "GET"))
        elif (subprotocol := connection.accept(request)) is not None:
            self._begin_session(connection, subprotocol)

    async def _answer(self, connection: PlayerConnection, request: Request) -> None:
        page = await self._admission.page(connection, request)
        del self._answering[connection]
        connection.respond(page)

    def _begin_session(self, connection: PlayerConnection, subprotocol: str) -> None:
        session = Session(
            connection=connection,
            codec=CODECS[subprotocol],
            address=connection.address,
            number=next(self._numbers),
            quota=connection.quota,
        )
        self._sessions.add(session)
        self._commands.connected(session)
        connection.opened(session)

    def stopped_reading(self) -> None:
        """Count a client that was aborted because it does not read."""
        self._metrics.slow_clients.inc()

    def lost(self, connection: PlayerConnection) -> None:
        """Forget a connection that has ended."""
        self._admission.ended(connection)
        if connection in self._answering:
            self._answering.pop(connection).cancel()
        self.connections.discard(connection)
        self._has_ended.set()

    def ended(self, session: Session) -> None:
        """Handle the end of a session, after its last command."""
        self._sessions.discard(session)
        self._tasks.spawn(self._commands.disconnected(session))
        self._has_ended.set()

    # Background work

    async def watch(self) -> None:
        """Keep all connections alive, and end those that do not keep up; never return."""
        while True:
            due = time.monotonic() + WATCH_EVERY
            await asyncio.sleep(WATCH_EVERY)
            now = time.monotonic()
            self._metrics.loop_lag.observe(max(0.0, now - due))
            alive = Alive(now=self._commands.now())
            frames = {name: codec.encode(alive) for name, codec in CODECS.items()}
            for number, connection in enumerate(list(self.connections), start=1):
                if number % LOOKED_AT_AT_ONCE == 0:
                    await asyncio.sleep(0)
                try:
                    connection.check(now)
                    if connection.session is not None:
                        connection.keep_alive(frames[connection.session.codec.subprotocol], now)
                except Exception as fault:  # one connection must not end the server
                    log.error("server_fault", fault=fault)
                    connection.cut()

    # The end

    def stop_listening(self) -> None:
        """Stop accepting connections; a client in its handshake is answered 503."""
        self._is_listening = False
        if self._server is not None:
            self._server.close()

    async def drain(
        self,
        code: CloseCode = RESTARTING,
        is_racing: Callable[[Session], bool] = lambda session: False,
    ) -> None:
        """Close all sessions in batches, each when its present command is answered.

        So not all reconnect elsewhere at once. Racers come first, table by table: they suffer most
        from a pause, and the other nodes are not busy with reconnections yet.
        """

        def place(session: Session) -> tuple[bool, bool, str]:
            return not is_racing(session), session.seat is None, session.seat or ""

        order = sorted(self._sessions, key=place)
        mean = min(PAUSE, LONGEST_DRAIN * BATCH / max(len(order), 1))
        for start in range(0, len(order), BATCH):
            for session in order[start : start + BATCH]:
                session.connection.leave(code)
            # random, so that nodes that drain at the same time do not stay in step
            await asyncio.sleep(mean * random.uniform(0.5, 1.5))  # noqa: S311
        await self._emptied(self._sessions)

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
        await self._emptied(self._sessions)
        await self._tasks.finish()

    async def _emptied(self, some: Collection[object]) -> None:
        while some:
            self._has_ended.clear()
            await self._has_ended.wait()

    def cut(self) -> None:
        """Abort every connection."""
        for connection in list(self.connections):
            connection.cut()
