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


async def test_a_server_is_recognised_by_its_response() -> None:
    async with answering(ALIVE) as ours, answering(OTHER) as other:
        assert await is_server("127.0.0.1", ours)
        assert not await is_server("127.0.0.1", other)
    assert not await is_server("127.0.0.1", ours)


def test_a_port_is_free_unless_a_program_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_the_lan_address_is_no_loopback_address() -> None:
    address = lan_address()
    assert address is None or not address.startswith("127.")


async def test_a_running_local_server_is_used_and_not_stopped() -> None:
    reports: list[str] = []
    async with answering(ALIVE) as port:
        async with local_server("wss://cards.example.org", port, reports.append) as server:
            assert server.own == f"ws://127.0.0.1:{port}"
            assert server.friends == "wss://cards.example.org"
            assert not server.is_ours
            assert not server.warning
        assert await is_server("127.0.0.1", port)
    assert len(reports) == 1


async def test_a_server_that_listens_on_loopback_only_gets_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as server:
        assert "--host 0.0.0.0" in server.warning


async def test_a_machine_without_a_network_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: None)
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as server:
        assert server.friends == server.own
        assert "--public-url" in server.warning


async def test_a_server_is_started_on_a_free_port_if_the_usual_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[str]:
        assert folder == data_folder()
        flags_seen.append(flags)
        yield "ws://0.0.0.0:4711"

    monkeypatch.setattr(hosting, "running_server", started)
    reports: list[str] = []
    async with answering(OTHER) as port:
        monkeypatch.setattr(hosting, "PORT", port)
        async with local_server("", report=reports.append) as server:
            pass
        with pytest.raises(Problem, match="in use by another program"):
            await local_server("", port).__aenter__()
    assert server.is_ours
    assert server.own == "ws://127.0.0.1:4711"
    assert server.friends.endswith(":4711")
    assert flags_seen == [("--host", "0.0.0.0", "--port", "0", "--metrics-port", "off")]
    assert reports[-1].startswith("Stopping")


@pytest.mark.parametrize("public_url", ["", "wss://cards.example.org"])
async def test_a_server_behind_a_local_proxy_listens_on_loopback_only(
    monkeypatch: pytest.MonkeyPatch, public_url: str
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[str]:
        flags_seen.append(flags)
        yield "ws://127.0.0.1:4711"

    monkeypatch.setattr(hosting, "running_server", started)
    monkeypatch.setattr(hosting, "is_server", no_server)
    monkeypatch.setattr(hosting, "lan_address", lambda: "192.0.2.7")
    async with local_server(public_url, report=lambda _: None, listen="127.0.0.1") as server:
        pass
    assert flags_seen[0][:2] == ("--host", "127.0.0.1")
    assert server.friends == (public_url or server.own)
    assert ("--public-url" in server.warning) is not bool(public_url)


async def no_server(host: str, port: int) -> bool:
    return False


async def test_friends_get_the_lan_address_if_the_server_answers_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with answering(ALIVE) as port:
        here = f"ws://localhost:{port}"
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.1")
        assert await friends_address(here) == f"ws://127.0.0.1:{port}"
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")
        assert await friends_address(here) == here
    assert await friends_address("wss://cards.example") == "wss://cards.example"


async def test_an_invitation_names_the_game_and_the_commands_to_install_and_join() -> None:
    settings = Settings(install="pipx install saratoga")
    lines = await invitation_to(table(), settings, "wss://cards.example/")
    assert lines == (
        "Race me at patience: Canfield, 10 minutes, the same deal for everyone.",
        "  pipx install saratoga",
        f"  saratoga join wss://cards.example/{CODE}",
    )
