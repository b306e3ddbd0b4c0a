"""Clients that do not read are disconnected soon, cost little memory, and delay no other client."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from time import monotonic

import msgspec
import pytest
from websockets.http11 import Request, Response

from kit.altered_server import QUICK
from kit.deployment import write_certificate
from kit.gateways import SMALL_WINDOW, OpenGateway, RawSocket, frame, open_gateway, raw_socket
from kit.in_process_server import counted, counted_down, gathered
from kit.players import RECEIVED_WITHIN, SocketPlayer, player_at, token_of
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import Command, Hello, JoinTable
from saratoga_protocol.events import BoardChanged
from saratoga_server.transport.connection import LONGEST_UNREAD, MOST_UNREAD
from saratoga_server.transport.http_responses import Page, response

ENOUGH = 1500
"""The number of commands whose responses exceed what the kernel buffers for a connection."""

TRICKLE_EVERY = 0.5
"""Seconds between two reads of a slow client."""

HELD_UNREAD = 2 * SMALL_WINDOW
"""Bytes that the kernel buffers for a client that reads nothing: twice the window."""


def encoded(command: Command) -> bytes:
    return frame(msgspec.msgpack.encode(command))


async def ask_for_much(socket: RawSocket, name: str, code: str) -> None:
    """Say hello and send many commands (ids below `ENOUGH`) without reading the responses."""
    assert b" 101 " in await socket.shake_hands()
    asked = b"".join(
        encoded(JoinTable(id=number, table=code, seat=False)) for number in range(2, ENOUGH)
    )
    await socket.say(encoded(Hello(id=1, token=token_of(name), name=name)) + asked)


async def stops(socket: RawSocket, name: str, code: str) -> None:
    """Send many commands, then read nothing."""
    await ask_for_much(socket, name, code)
    assert await socket.dropped()


async def trickles(socket: RawSocket, name: str, code: str) -> None:
    """Read fast, then slowly, so that the receive window opens a little again and again."""
    await ask_for_much(socket, name, code)
    read, since = 0, monotonic()
    async with asyncio.timeout(RECEIVED_WITHIN):
        while read <= HELD_UNREAD:
            piece, before, since = await socket.read(SMALL_WINDOW), since, monotonic()
            if not piece:
                assert since - before > LONGEST_UNREAD, "gone while it read"
                return
            read += len(piece)
        while not await socket.dropped(within=TRICKLE_EVERY):
            await socket.read(SMALL_WINDOW)


async def stops_in_mid_frame(socket: RawSocket, name: str, code: str) -> None:
    """Send part of a frame, then stop sending and reading."""
    await ask_for_much(socket, name, code)
    await socket.say(encoded(JoinTable(id=ENOUGH, table=code, seat=False))[:9])
    assert await socket.dropped()


UNREADING = (stops, trickles, stops_in_mid_frame)
"""Clients that the server disconnects after two seconds without a read."""


async def all_dropped(port: int, code: str, *, of_each: int = 1) -> None:
    """Connect `of_each` clients of each kind of `UNREADING`; wait until all are dropped."""
    with ExitStack() as sockets:
        async with asyncio.TaskGroup() as group:
            for number in range(of_each):
                for behave in UNREADING:
                    socket = sockets.enter_context(raw_socket(port))
                    name = f"{behave.__name__[:14].replace('_', '-')} {chr(97 + number)}"
                    group.create_task(behave(socket, name, code))


PAUSE = 0.01
"""Seconds between two moves, because a board allows at most 5,000 moves."""

LONG_PAGE = 2 * 1024 * 1024


@pytest.fixture(params=["plain", pytest.param("tls", marks=pytest.mark.needs("openssl"))])
def tls(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path] | None:
    """The certificate and the key if connections use TLS, else `None`."""
    if request.param == "plain":
        return None
    certificate = write_certificate(tmp_path)
    return certificate, certificate.with_name("privkey.pem")


def at_the_server(tls: tuple[Path, Path] | None) -> ssl.SSLContext | None:
    if tls is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    return context


def at_the_client(tls: tuple[Path, Path] | None) -> ssl.SSLContext | None:
    return None if tls is None else ssl.create_default_context(cafile=str(tls[0]))


# Tests with a server in this process, whose buffers can be read


async def long_page(request: Request) -> Response:
    return response(Page(status=HTTPStatus.OK, body=bytes(LONG_PAGE)), request.method)


@asynccontextmanager
async def open_long_pages(tls: tuple[Path, Path] | None) -> AsyncIterator[OpenGateway]:
    async with open_gateway(tls=at_the_server(tls), pages=long_page) as opened:
        yield opened


async def test_a_page_whose_reader_stops_is_dropped(tls: tuple[Path, Path] | None) -> None:
    async with open_long_pages(tls) as opened:
        with raw_socket(opened.port, tls=at_the_client(tls)) as socket:
            await socket.say(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n")
            assert await socket.dropped()
            assert counted(opened.metrics, "slow_clients_total") == 1
            assert opened.gateway.connections == set()
        # A client that reads receives the whole page.
        with raw_socket(opened.port, tls=at_the_client(tls), window=None) as socket:
            await socket.say(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n")
            assert len(await socket.read_to_the_end()) > LONG_PAGE


# Tests with a server process


async def race_on(
    anna: SocketPlayer, until: "asyncio.Task[None]", server_process: ServerProcess
) -> int:
    """Make one move after another until the task is done; return the server's largest memory in bytes."""
    most = 0
    while not until.done():
        answer = await anna.move("draw")
        if not isinstance(answer, BoardChanged):
            redealt = await anna.move("redeal")
            assert isinstance(redealt, BoardChanged), (answer, redealt)
        most = max(most, resident(server_process.pid))
        await asyncio.sleep(PAUSE)
    return most


@asynccontextmanager
async def racing(server_process: ServerProcess) -> AsyncIterator[tuple[SocketPlayer, str]]:
    async with (
        player_at(server_process.url, "Anna") as anna,
        player_at(server_process.url, "Bert") as bert,
    ):
        code = await gathered(anna, bert)
        await counted_down(anna, bert)
        await anna.received.next(BoardChanged, 0, entries=[])
        yield anna, code


def resident(pid: int) -> int:
    """Return the resident memory of the process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


async def test_bad_readers_are_disconnected_while_others_race() -> None:
    async with (
        running_server("--rate", "0", module=QUICK) as server_process,
        racing(server_process) as (anna, code),
    ):
        await all_dropped(
            server_process.port, code
        )  # The first readers increase memory that the process keeps afterwards.
        before = resident(server_process.pid)
        dropped = asyncio.create_task(all_dropped(server_process.port, code, of_each=4))
        most = await race_on(anna, dropped, server_process)
        await dropped
        assert isinstance(await anna.cash_out(), BoardChanged)
    readers = 4 * len(UNREADING)
    assert most - before < readers * MOST_UNREAD
