"""A server on this machine is found or started, and invitations name its address."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kit.scripted_server import CODE, table
from saratoga_client.local import hosting
from saratoga_client.local.hosting import (
    friends_address,
    is_free,
    is_server,
    lan_address,
    local_server,
)
from saratoga_client.local.paths import data_folder
from saratoga_client.local.settings import Settings
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import invitation_to


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[int]:
    """Listen on this machine and send every client the same response; yield the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


ALIVE = b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"status":"alive"}'
OTHER = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"


async def test_a_house_is_known_by_its_answer() -> None:
    async with answering(ALIVE) as house, answering(OTHER) as other:
        assert await is_server("127.0.0.1", house)
        assert not await is_server("127.0.0.1", other)
    assert not await is_server("127.0.0.1", house)


def test_a_port_is_free_until_somebody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_the_address_that_friends_are_told_is_one_of_other_machines_too() -> None:
    address = lan_address()
    assert address is None or not address.startswith("127.")


async def test_a_house_that_runs_here_is_used_and_left_running() -> None:
    said: list[str] = []
    async with answering(ALIVE) as port:
        async with local_server("wss://cards.example.org", port, said.append) as house:
            assert house.own == f"ws://127.0.0.1:{port}"
            assert house.friends == "wss://cards.example.org"
            assert not house.is_ours
            assert not house.warning
        assert await is_server("127.0.0.1", port)
    assert len(said) == 1


async def test_a_house_that_hears_this_machine_alone_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as house:
        assert "--host 0.0.0.0" in house.warning


async def test_a_machine_in_no_network_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: None)
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as house:
        assert house.friends == house.own
        assert "--public-url" in house.warning


async def test_a_house_is_opened_beside_another_program_and_closed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def opened(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[str]:
        assert folder == data_folder()
        flags_seen.append(flags)
        yield "ws://0.0.0.0:4711"

    monkeypatch.setattr(hosting, "running_server", opened)
    said: list[str] = []
    async with answering(OTHER) as port:
        monkeypatch.setattr(hosting, "PORT", port)
        async with local_server("", report=said.append) as house:
            pass
        with pytest.raises(Problem, match="in use by another program"):
            await local_server("", port).__aenter__()
    assert house.is_ours
    assert house.own == "ws://127.0.0.1:4711"
    assert house.friends.endswith(":4711")
    assert flags_seen == [("--host", "0.0.0.0", "--port", "0", "--metrics-port", "off")]
    assert said[-1].startswith("Stopping")


@pytest.mark.parametrize("public_url", ["", "wss://cards.example.org"])
async def test_a_house_behind_a_proxy_here_is_open_to_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, public_url: str
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def opened(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[str]:
        flags_seen.append(flags)
        yield "ws://127.0.0.1:4711"

    monkeypatch.setattr(hosting, "running_server", opened)
    monkeypatch.setattr(hosting, "is_server", is_nobody)
    monkeypatch.setattr(hosting, "lan_address", lambda: "192.0.2.7")
    async with local_server(public_url, report=lambda _: None, listen="127.0.0.1") as house:
        pass
    assert flags_seen[0][:2] == ("--host", "127.0.0.1")
    assert house.friends == (public_url or house.own)
    assert ("--public-url" in house.warning) is not bool(public_url)


async def is_nobody(host: str, port: int) -> bool:
    return False


async def test_friends_are_told_the_address_in_the_network_where_the_house_answers_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with answering(ALIVE) as port:
        here = f"ws://localhost:{port}"
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.1")
        assert await friends_address(here) == f"ws://127.0.0.1:{port}"
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")
        assert await friends_address(here) == here
    assert await friends_address("wss://cards.example") == "wss://cards.example"


async def test_an_invitation_says_what_is_played_and_how_to_come() -> None:
    settings = Settings(install="pipx install saratoga")
    lines = await invitation_to(table(), settings, "wss://cards.example/")
    assert lines == (
        "Race me at patience: Canfield, 10 minutes, the same deal for everyone.",
        "  pipx install saratoga",
        f"  saratoga join wss://cards.example/{CODE}",
    )
