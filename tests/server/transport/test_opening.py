"""Connections opened: accepted, addressed by a known name, and after a handshake with bounds."""

import socket
from collections.abc import AsyncIterator

import msgspec
import pytest
from websockets.datastructures import Headers

from kit.gateways import OpenGateway, open_gateway
from kit.players import connected_player
from kit.raw_client import PING, frame, handshake, raw_socket
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import (
    Done,
)
from saratoga_server.transport.connection import MOST_REQUEST, PlayerConnection
from saratoga_server.transport.hosts import Hosts, own_names

# The gateway: all connections of a node, accepted and closed


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


# Closing


async def test_a_gateway_closes_though_a_client_does_not() -> None:
    async with open_gateway() as opened:
        with raw_socket(opened.port) as one, raw_socket(opened.port) as two:
            assert b" 101 " in await one.shake_hands()
            await two.say(b"GET / HTTP/1.1\r\n")
            await opened.gateway.close()
            assert opened.gateway.connections == set()
            assert (await opened.commands.next_ended()).number == 1


async def test_a_fault_with_one_connection_ends_that_connection_alone(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = PlayerConnection.check

    def broken(connection: PlayerConnection, now: float) -> None:
        if connection is opened.commands.connections[0]:
            raise RuntimeError("broken")
        check(connection, now)

    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        await anna.ask(Heartbeat)
        await bert.ask(Heartbeat)
        monkeypatch.setattr(PlayerConnection, "check", broken)
        assert await opened.commands.next_ended() is opened.commands.sessions[0]
        assert await bert.ask(Heartbeat) == Done(re=2)


async def test_a_client_in_the_handshake_at_shutdown_is_asked_to_retry() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        with raw_socket(opened.port, window=None) as socket:
            await socket.say(b"GET / HTTP/1.1\r\n")
            while len(opened.gateway.connections) < 2:
                await anna.ask(Heartbeat)
            opened.gateway.stop_listening()
            await socket.say(handshake().partition(b"\r\n")[2])
            answer = await socket.read_to_the_end()
        assert b" 503 " in answer
        assert b"Retry-After" in answer


# The first request of a connection: bounded in size, answered once, then freed


@pytest.mark.parametrize(
    "head", [b"x" * (MOST_REQUEST - 1) + b"\r\n\r\n", b"x" * (MOST_REQUEST + 1)]
)
async def test_a_head_has_a_largest_size(opened: OpenGateway, head: bytes) -> None:
    with raw_socket(opened.port, window=None) as socket:
        await socket.say(head)
        assert b" 431 " in (await socket.read_to_the_end()).partition(b"\r\n")[0]


@pytest.mark.parametrize("pieces", [1, 2, 70])
async def test_what_comes_behind_a_request_does_not_cost_it_its_answer(
    opened: OpenGateway, pieces: int
) -> None:
    refused = b"GET / HTTP/1.1\r\nHost: server\r\n\r\n" + b"no frame at all" * 3
    with raw_socket(opened.port, window=None) as socket:
        step = -(-len(refused) // pieces)
        for at in range(0, len(refused), step):
            await socket.say(refused[at : at + step])
        assert b" 404 " in (await socket.read_to_the_end()).partition(b"\r\n")[0]


async def test_frames_that_come_with_the_handshake_are_read_after_it(opened: OpenGateway) -> None:
    command = frame(msgspec.msgpack.encode(Heartbeat(id=1)))
    with raw_socket(opened.port, window=None) as socket:
        await socket.say(handshake() + frame(b"", PING) + command)
        answer = b""
        while not answer.endswith(msgspec.msgpack.encode(Done(re=1))):
            answer += await socket.read()
    head, _, frames = answer.partition(b"\r\n\r\n")
    assert b" 101 " in head
    assert frames.startswith(b"\x8a\x00")


async def test_a_client_that_stops_in_the_handshake_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.OPEN_WITHIN", 0.1)
    async with open_gateway() as opened:
        with raw_socket(opened.port) as socket:
            await socket.say(b"GET / HTTP/1.1\r\nHost: ")
            assert await socket.read_to_the_end() == b""


# The names by which browsers may reach the server, and the web pages that may connect


PUBLIC = Hosts(public_url="wss://patience.example.org", origins=("https://play.example",))


def asked(host: str | None, *origins: str) -> Headers:
    named = [] if host is None else [("Host", host)]
    return Headers([*named, *(("Origin", origin) for origin in origins)])


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:7470", "192.168.1.5", "[::1]:7470", "[fe80::1]", "localhost:7470"),
        *("LocalHost", f"{socket.gethostname()}:7470", "patience.example.org", "play.example"),
    ],
)
def test_an_address_this_machine_and_configured_names_are_served(host: str) -> None:
    assert PUBLIC.serves(asked(host))


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:7470", "patience.example.org.evil.example", ""),
        *("localhost@evil.example", "evil.example/localhost", "[::1", "localhost:x", None),
    ],
)
def test_a_name_of_somebody_else_is_not_served(host: str | None) -> None:
    assert not PUBLIC.serves(asked(host))
    assert not PUBLIC.serves(Headers([("Host", "localhost"), ("Host", "localhost")]))


def test_the_name_of_this_machine_is_known_to_multicast_dns() -> None:
    first = socket.gethostname().lower().partition(".")[0]
    assert f"{first}.local" in own_names()


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("192.168.1.5:7470", "http://192.168.1.5:7470"),
        ("[::1]:7470", "http://[::1]:7470"),
        ("localhost:7470", "http://localhost:7470"),
        ("192.168.1.5", "http://192.168.1.5"),
        ("192.168.1.5", "https://192.168.1.5:443"),
        ("patience.example.org", "https://patience.example.org"),
        ("evil.example", "https://play.example"),
    ],
)
def test_the_servers_own_page_and_configured_ones_may_connect(host: str, origin: str) -> None:
    assert PUBLIC.admits(asked(host, origin))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("192.168.1.5:7470", "http://evil.example"),
        ("192.168.1.5:7470", "http://192.168.1.5:8080"),
        ("192.168.1.5:7470", "http://192.168.1.5"),
        ("192.168.1.5:7470", "http://192.168.1.6:7470"),
        ("evil.example:7470", "http://evil.example:7470"),
        ("localhost", "null"),
        ("localhost", ""),
        ("localhost", "file://localhost"),
        ("localhost", "http://localhost/"),
        ("localhost", "http://localhost, http://localhost"),
        ("localhost", "http://x@localhost"),
        ("patience.example.org", "http://patience.example.org"),
        (None, "http://localhost"),
    ],
)
def test_other_pages_and_rebound_names_may_not_connect(host: str | None, origin: str) -> None:
    assert not PUBLIC.admits(asked(host, origin))


def test_a_program_without_an_origin_may_connect_by_any_name() -> None:
    assert PUBLIC.admits(asked("whatever.example"))
    assert PUBLIC.admits(asked(None))


def test_only_pages_over_tls_may_connect_to_a_server_with_tls() -> None:
    hosts = Hosts(is_tls=True)
    assert hosts.admits(asked("192.168.1.5:7470", "https://192.168.1.5:7470"))
    assert not hosts.admits(asked("192.168.1.5:7470", "http://192.168.1.5:7470"))
