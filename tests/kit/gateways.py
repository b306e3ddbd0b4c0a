"""A real gateway with stub commands behind it, for tests of connections and frames."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, cast

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kit.players import RECEIVED_WITHIN
from saratoga_protocol.commands import Command, GetRecord, Hello, MakeMove
from saratoga_protocol.events import Done, Event, Record
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.session import Session
from saratoga_server.metrics import Metrics
from saratoga_server.transport.admission import Pages
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.gateway import Gateway, GatewaySettings
from saratoga_server.transport.hosts import Hosts
from saratoga_server.transport.http_responses import refusal_page, response
from saratoga_server.transport.web_files import KINDS, WebFile, WebFiles, web_file

OWN_HOSTS = Hosts()
NOW = 1_790_000_000_000


@dataclass
class StubCommands:
    """A handler that answers every command with `Done`, at once or when the test allows it."""

    sessions: list[Session] = field(default_factory=list)
    carried_out: list[Command] = field(default_factory=list)
    left: asyncio.Queue[Session] = field(default_factory=asyncio.Queue)
    waits: dict[int, asyncio.Event] = field(default_factory=dict)
    """The ids of commands that are answered only when their event is set."""
    record: str | None = None
    """The text of the record in every response to `GetRecord`."""
    move: Any = None
    """The result of every `begin_move`."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first move has begun."""

    def connected(self, session: Session) -> None:
        self.sessions.append(session)

    def begin_move(self, session: Session, command: MakeMove) -> Any:
        self.begun.set()
        return self.move

    async def answer(self, session: Session, command: Command) -> Event:
        if isinstance(command, Hello):
            session.player = "p" * 16
        if command.id in self.waits:
            await self.waits[command.id].wait()
        self.carried_out.append(command)
        if isinstance(command, GetRecord) and self.record is not None:
            return Record(re=command.id, race=command.race, text=self.record)
        return Done(re=command.id)

    def finish_move(self, session: Session, move: Any) -> Event | None:
        answer: Event | None = move.finish()
        return answer

    async def explain(self, session: Session, move: Any) -> Event:
        answer: Event = await move.explain()
        return answer

    async def disconnected(self, session: Session) -> None:
        await self.left.put(session)

    def now(self) -> int:
        return NOW

    @property
    def connections(self) -> list[PlayerConnection]:
        """Return the connections of all sessions, including ended ones."""
        found = [session.connection for session in self.sessions]
        return [each for each in found if isinstance(each, PlayerConnection)]

    async def next_ended(self) -> Session:
        """Wait until a session's connection ends; return the session."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            return await self.left.get()


@dataclass
class OpenGateway:
    commands: StubCommands
    gateway: Gateway
    metrics: Metrics
    port: int

    @property
    def url(self) -> str:
        """Return the address for clients."""
        return f"ws://127.0.0.1:{self.port}"


async def no_pages(request: Request) -> Response:
    return response(
        refusal_page(HTTPStatus.NOT_FOUND, "no_such_page", "There is no page."), request.method
    )


@asynccontextmanager
async def open_gateway(
    *,
    rate: float = 0,
    burst: float = 100,
    proxies: int = 0,
    per_address: float | None = 1.0,
    pages: Pages = no_pages,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[OpenGateway]:
    commands, metrics = StubCommands(), Metrics()
    settings = GatewaySettings(
        host="127.0.0.1",
        port=0,
        tls=tls,
        rate=rate,
        burst=burst,
        hosts=OWN_HOSTS,
        trusted_proxies=proxies,
        per_address=per_address,
    )
    gateway = Gateway(cast(Dispatcher, commands), settings, pages, metrics)
    port = await gateway.open()
    watching = asyncio.create_task(gateway.watch())
    try:
        yield OpenGateway(commands, gateway, metrics, port)
    finally:
        await gateway.close()
        watching.cancel()
        await asyncio.wait([watching])


OWN: Final = Headers([("Host", "localhost:7470")])
"""The headers of a browser that asks by a name of the server."""

SCRIPT: Final = web_file(b"export const nothing = 0;\n" * 20, KINDS[".js"])
SMALL: Final = web_file(b"{}", KINDS[".css"])

WEB_FILES: Final = WebFiles(
    version="0123456789abcdef0123",
    index=web_file(b"<!doctype html><head><title>Saratoga</title></head>", KINDS[".html"]),
    files={"main.js": SCRIPT, "page.css": SMALL},
)


def asking(**more: str) -> Headers:
    """Return a browser's headers; `accept_encoding` stands for `Accept-Encoding`."""
    return Headers(
        [*OWN.raw_items(), *((name.replace("_", "-"), value) for name, value in more.items())]
    )


def tag_of(file: WebFile, *, compressed: bool = False) -> str:
    """Return the entity tag of a file."""
    return f'"{file.tag}-gzip"' if compressed else f'"{file.tag}"'
