"""A server on this machine is found or started, and invitations name its address."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest

from kit.scripted_server import CODE, table
from saratoga_client.local import hosting
from saratoga_client.local.hosting import (
    PORT,
    friends_address,
    is_free,
    is_server,
    last_port,
    local_server,
    page_origin,
    still_here,
)
from saratoga_client.local.paths import data_folder
from saratoga_client.local.server_process import SOMEBODY, Person, RunningServer
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import inviter_for


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


def test_a_host_opens_the_server_again_at_its_last_port() -> None:
    assert last_port() == PORT
    remember_server("ws://127.0.0.1:41233")
    assert last_port() == 41233
    remember_server("ws://192.168.1.7:8000")
    assert last_port() == PORT


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
        assert server.friends == server.own


async def test_a_machine_without_a_network_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: None)
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as server:
        assert server.friends == server.own
        assert "--public-url" in server.warning


def ready_at(address: str) -> RunningServer:
    return RunningServer(address, Mock(asyncio.subprocess.Process), asyncio.Event())


async def test_a_server_is_started_on_a_free_port_if_the_usual_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[RunningServer]:
        assert folder == data_folder()
        flags_seen.append(flags)
        yield ready_at("ws://0.0.0.0:4711")

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
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[RunningServer]:
        flags_seen.append(flags)
        yield ready_at("ws://127.0.0.1:4711")

    monkeypatch.setattr(hosting, "running_server", started)
    monkeypatch.setattr(hosting, "is_server", no_server)
    monkeypatch.setattr(hosting, "lan_address", lambda: "192.0.2.7")
    async with local_server(public_url, report=lambda _: None, listen="127.0.0.1") as server:
        pass
    assert flags_seen[0][:2] == ("--host", "127.0.0.1")
    # friends' browsers may connect from the page at the public address
    assert flags_seen[0][6:] == (("--origin", "https://cards.example.org") if public_url else ())
    assert server.friends == (public_url or server.own)
    assert ("--public-url" in server.warning) is not bool(public_url)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("wss://Cards.example.org/", "https://cards.example.org"),
        ("ws://machine.example.org:7470", "http://machine.example.org:7470"),
        ("https://anna:s3cret@cards.example/races", "https://cards.example"),
    ],
)
def test_the_page_at_a_public_address_has_an_origin(url: str, origin: str) -> None:
    assert page_origin(url) == origin


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


@pytest.mark.parametrize(
    ("server", "address"),
    [
        ("wss://anna:s3cret@cards.example/races", "wss://cards.example/races"),
        ("wss://anna:s@3cret@cards.example:8443", "wss://cards.example:8443"),
        ("ws://anna:s3cret@localhost:1", "ws://localhost:1"),
    ],
)
async def test_an_invitation_has_no_user_name_and_no_password(server: str, address: str) -> None:
    assert await friends_address(server) == address
    lines = (await inviter_for(Settings(server=server))).lines(table())
    assert lines[-1] == f"  saratoga join {address}/{CODE}"


async def test_an_invitation_names_the_game_and_the_commands_to_install_and_join() -> None:
    settings = Settings(install="pipx install saratoga")
    lines = (await inviter_for(settings, "wss://cards.example/")).lines(table())
    assert lines == (
        "Race me at patience: Canfield, 10 minutes, the same deal for everyone.",
        f"In a browser: https://cards.example/{CODE}",
        "  pipx install saratoga",
        f"  saratoga join wss://cards.example/{CODE}",
    )


def test_the_people_on_a_server_are_named_by_table() -> None:
    def person(name: str, table: str) -> Person:
        return Person("p" * 16, name, table)

    ben, cleo = person("Ben", "mint-otter-42"), person("Cleo", "mint-otter-42")
    assert still_here([ben]) == "Ben is still at mint-otter-42."
    assert still_here([ben, cleo]) == "Ben and Cleo are still at mint-otter-42."
    assert still_here([person("", "")]) == "somebody is still in the lobby."
    everybody = [ben, cleo, person("Dan", "fern-crow-07"), person("Eve", "")]
    assert still_here([SOMEBODY]).startswith("The server can't say now")
    assert still_here([ben, SOMEBODY]) == "Ben is still at mint-otter-42."
    assert still_here(everybody) == (
        "4 people are still here: Ben and Cleo at mint-otter-42, Dan at fern-crow-07, Eve in the lobby."
    )
