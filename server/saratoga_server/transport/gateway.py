"""The door: WebSocket connections in, and out again.

Sending never waits; a watchdog cuts the connection of whoever does not read.
"""

import asyncio
import itertools
import math
import socket
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, cast

from msgspec import Struct
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import (
    ABUSE,
    RESTARTING,
    TOO_SLOW,
    WRONG_SUBPROTOCOL,
    CloseCode,
)
from saratoga_protocol.version import MAX_COMMAND_BYTES, SUBPROTOCOLS
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.metrics.counters import Metrics
from saratoga_server.rate_limits.accounts import RateLimiter
from saratoga_server.transport.accepting import Acceptor, bind
from saratoga_server.transport.command_loop import CommandLoop, Commands
from saratoga_server.transport.connection_limiter import ConnectionLimiter, Doorstep, HttpAnswer
from saratoga_server.transport.drain import see_out, slices
from saratoga_server.transport.intake import Intake
from saratoga_server.transport.outbox import Outbox
from saratoga_server.transport.response_budget import ResponseBudget

log = EventLog("edge")

HELLO_WITHIN: Final = 10.0
"""Seconds in which a connection must say hello."""

TLS_WITHIN: Final = 5.0
"""Seconds for the handshake of TLS."""

OPEN_WITHIN: Final = 10.0
"""Seconds for that of the WebSocket; or to ask for a page and to read it."""

READ_WITHIN: Final = 8.0
"""Seconds of these to read it. Who reads nothing is cut sooner, by the watchdog."""

WATCH_EVERY: Final = 0.25
"""Seconds between two looks at what waits."""

ALIVE_EVERY: Final = 2.0
"""Seconds between two signs of life; they also give the watchdog something to see."""

LOOKED_AT_AT_ONCE: Final = 100
"""Connections, in one turn of the event loop: a tenth of a millisecond."""

PORTION: Final = 16
"""Connections, at most, that are given a sign of life in one turn of the event loop: half a millisecond."""

MOST_PORTIONS: Final = 6
"""In one turn, where the loop is so busy that its turns are too few for one each."""

BEARING: Final[dict[str, Any]] = {
    # `stay_alive` pings
    "ping_interval": None,
    "close_timeout": READ_WITHIN,
    "max_queue": 16,
}
"""Of every connection."""


class Door(Struct, frozen=True, kw_only=True):
    """Where the gateway listens, and whom it lets in."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    origins: tuple[str, ...] = ()
    rate: float = 50
    burst: float = 100
    trusted_proxies: int = 0
    """How many proxies of the host's own every connection has come through."""
    per_address: float | None = 1.0
    """What an address may do, in measures of sixteen friends; `None`: anything."""


def portions_of(connections: int) -> int:
    """In how many portions so many connections are given a sign of life every `ALIVE_EVERY`."""
    return max(1, math.ceil(connections / PORTION))


class Gateway:
    """All connections of this node."""

    def __init__(
        self,
        live_tables: Commands,
        door: Door,
        http: HttpAnswer,
        metrics: Metrics,
    ) -> None:
        self._live_tables = live_tables
        self._door = door
        self._metrics = metrics
        self._ledger = RateLimiter(
            time.monotonic,
            factor=door.per_address,
            rate=door.rate,
            burst=door.burst,
            behind_proxies=door.trusted_proxies > 0,
            on_refused=self._limited,
        )
        self._long = ResponseBudget()
        self._porter = ConnectionLimiter(
            self._ledger, door.trusted_proxies, http, self._long, self._flooded
        )
        self._talk = CommandLoop(live_tables, metrics, self._long, most_overdrawn=door.burst)
        self._lines: OrderedDict[Session, Outbox] = OrderedDict()
        """Who was given no sign of life for longest comes first."""
        self._lines_of: dict[Intake, Outbox] = {}
        self._numbers = itertools.count(1)
        self._servers: list[Server] = []
        self._offered: Final[dict[str, Any]] = {
            # A program other than a browser names no origin: None lets it in.
            "origins": [None, *(Origin(origin) for origin in door.origins)],
            "subprotocols": [Subprotocol(name) for name in SUBPROTOCOLS],
            "max_size": MAX_COMMAND_BYTES,
        }
        """To every connection."""

    async def open(self) -> int:
        """Start to listen; returns the port. Raises `OSError`."""
        for listener in await bind(self._door.host, self._door.port):
            self._servers.append(await self._server(listener))
        port: int = next(iter(self._servers[0].sockets)).getsockname()[1]
        return port

    def _server(self, listener: socket.socket) -> Server:
        server = serve(
            self._handle,
            process_request=self._porter.asked,
            open_timeout=OPEN_WITHIN,
            compression=None,
            server_header=None,
        )

        async def opened() -> Acceptor[Intake]:
            keeper = Doorstep(self._porter, partial(self._intake, server))
            opening = Acceptor(listener, keeper, self._tls())
            opening.open()
            return opening

        server.create_server = cast(Any, opened)
        return server

    def _intake(self, server: Server, connection: socket.socket) -> Intake:
        protocol = ServerProtocol(**self._offered)
        return Intake(self._porter, connection, protocol, server, **BEARING)

    def _tls(self) -> dict[str, Any]:
        if self._door.tls is None:
            return {}
        return {"ssl": self._door.tls, "ssl_handshake_timeout": TLS_WITHIN}

    async def watch(self) -> None:
        """Cut the connections of those who do not read, players or not; for ever."""
        while True:
            due = time.monotonic() + WATCH_EVERY
            await asyncio.sleep(WATCH_EVERY)
            now = time.monotonic()
            self._metrics.loop_lag.observe(max(0.0, now - due))
            for number, intake in enumerate(list(self._porter.intakes), start=1):
                if number % LOOKED_AT_AT_ONCE == 0:
                    await asyncio.sleep(0)
                if not intake.reading.has_stopped(now):
                    continue
                line = self._lines_of.get(intake)
                if line is None:
                    self._metrics.slow_clients += 1
                    intake.cut()
                else:
                    line.cut_as_too_slow()

    async def stay_alive(self) -> None:
        """Give everyone a sign of life again and again, and send away who gives none; for ever.

        A few at a time, all through the pause: a thousand at once would hold moves up.
        """
        due = time.monotonic()
        while True:
            portions = portions_of(len(self._lines))
            pause = ALIVE_EVERY / portions
            due += pause
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            # no more is made up for than a round
            behind = min(time.monotonic() - due, ALIVE_EVERY)
            more = min(int(behind / pause), MOST_PORTIONS - 1)
            due = max(due + more * pause, time.monotonic() - ALIVE_EVERY)
            count = math.ceil(len(self._lines) / portions) * (1 + more)
            self._give_sign_of_life(list(itertools.islice(self._lines.items(), count)))

    def _give_sign_of_life(self, some: Iterable[tuple[Session, Outbox]]) -> None:
        now = time.monotonic()
        alive = Alive(now=self._live_tables.now())
        frames = {id(codec): codec.encode_event(alive) for codec in CODECS.values()}
        for session, line in some:
            self._lines.move_to_end(session)
            try:
                line.send(frames[id(session.codec)])
                if line.is_dead(now):
                    line.close(TOO_SLOW)
            except Exception as fault:  # the edge: one connection is not the end of the house
                log.error("house_fault", fault=fault, connection=session.number)
                line.cut()

    def stop_listening(self) -> None:
        """Let nobody in any more; who is half in is told to come again (503)."""
        for server in self._servers:
            server.close(close_connections=False)

    async def see_out(
        self,
        code: CloseCode = RESTARTING,
        is_racing: Callable[[Session], bool] = lambda session: False,
    ) -> None:
        """Send everybody away, slice by slice, each when the command under way is answered."""

        async def leave(session: Session) -> None:
            line = self._lines.get(session)
            if line is not None:
                await line.leave(code)

        await see_out(slices(self._lines, is_racing), leave)

    async def close(self, code: CloseCode = RESTARTING) -> None:
        """Let nobody in any more, send away whoever is still there, and wait until all are gone."""
        self.stop_listening()
        lines = list(self._lines.values())
        for line in lines:
            line.close(code)
        await asyncio.gather(*(line.closed() for line in lines))
        for server in self._servers:
            await server.wait_closed()

    def cut(self) -> None:
        """End every connection at once."""
        for line in list(self._lines.values()):
            line.cut()

    async def _handle(self, connection: ServerConnection) -> None:
        assert isinstance(connection, Intake)
        connection.entered()
        codec = CODECS.get(connection.subprotocol or "")
        line = Outbox(connection)
        if codec is None:
            line.close(WRONG_SUBPROTOCOL)
            await line.closed()
            return
        quota = connection.quota
        session = Session(
            connection=line,
            codec=codec,
            address=connection.client,
            number=next(self._numbers),
            quota=quota,
        )
        quota.gives_way, quota.is_seated = session.gives_way, session.is_seated
        self._lines[session] = self._lines_of[connection] = line
        self._live_tables.arrived(session)
        deadline = asyncio.get_running_loop().call_later(HELLO_WITHIN, session.should_be_known)
        try:
            await self._talk.converse(connection, session, line)
        except ConnectionClosed:
            self._lines.move_to_end(session)
        finally:
            deadline.cancel()
            line.answered()
            quota.lets_go()
            del self._lines[session], self._lines_of[connection]
            self._metrics.slow_clients += line.is_too_slow
            await self._live_tables.gone(session)
            await line.closed()

    def _limited(self, what: str) -> None:
        self._metrics.limited[what] += 1

    def _flooded(self, intake: Intake) -> None:
        line = self._lines_of.get(intake)
        if line is None:
            intake.cut()
        else:
            line.close(ABUSE)
