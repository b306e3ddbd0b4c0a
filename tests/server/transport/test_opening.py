"""Connections opened: admitted by address, addressed by a known name, and after a handshake with bounds."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from http import HTTPStatus

import msgspec
import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kit.gateways import PING, OpenGateway, frame, handshake, open_gateway, raw_socket
from kit.players import connected_player
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_server.limits import MAX_CONNECTIONS_PER_ADDRESS, PER_ADDRESS, Action
from saratoga_server.metrics import Metrics
from saratoga_server.transport.admission import Pages
from saratoga_server.transport.connection import MOST_REQUEST, PlayerConnection
from saratoga_server.transport.hosts import Hosts, own_names
from saratoga_server.transport.http_responses import LOADED_AT_ONCE, refusal_page, response

# The gateway: all connections of a node, accepted and closed


def counted_by(metrics: Metrics, name: str) -> dict[str, float]:
    """Return the values of a metric with one label that are not 0, by label."""
    return {
        next(iter(sample.labels.values())): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == f"saratoga_{name}" and sample.value
    }


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


GUESTS = "203.0.113.7"
RECORDS = "GET /api/records/mint-otter-42/1"


@asynccontextmanager
async def behind_a_proxy(
    factor: float | None = 1.0, proxies: int = 1, pages: Pages | None = None
) -> AsyncIterator[OpenGateway]:
    async with open_gateway(
        proxies=proxies, per_address=factor, pages=pages or nothing_there
    ) as opened:
        yield opened


async def nothing_there(request: Request) -> Response:
    status = HTTPStatus.NOT_FOUND if "records" in request.path else HTTPStatus.SERVICE_UNAVAILABLE
    return response(refusal_page(status, "no", "No."), request.method)


async def requested(opened: OpenGateway, line: str, *forwarded: str) -> tuple[int, dict[str, str]]:
    """Request a page; return the status and the headers."""
    headers = "".join(f"X-Forwarded-For: {each}\r\n" for each in forwarded)
    with raw_socket(opened.port, window=None) as socket:
        await socket.say(f"{line} HTTP/1.1\r\nHost: server\r\n{headers}\r\n".encode())
        head, _, _ = (await socket.read_to_the_end()).decode().partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in lines)


async def test_too_many_pages_are_refused_with_the_time_to_wait() -> None:
    async with behind_a_proxy(factor=0.1) as opened:
        burst = int(PER_ADDRESS[Action.PAGE].burst * 0.1)
        answers = [
            await requested(opened, "GET /api/leaderboards/x", GUESTS) for _ in range(burst + 1)
        ]
        assert [status for status, _ in answers] == [503] * burst + [429]
        assert answers[-1][1]["Retry-After"] == "1"
        # the entries to the left come from the client and cannot be trusted
        assert (await requested(opened, "GET /", f"127.0.0.1, {GUESTS}"))[0] == 429
        assert (await requested(opened, "GET /", "10.9.9.9", GUESTS))[0] == 429
        assert (await requested(opened, "GET /", "198.51.100.1"))[0] == 503
        assert counted_by(opened.metrics, "limited_total") == {"pages": 3}


@pytest.mark.parametrize("upgrade", ["", "Upgrade: websocket\r\n"])
async def test_the_refusal_of_a_head_request_has_no_body(upgrade: str) -> None:
    head = f"HEAD / HTTP/1.1\r\nHost: server\r\nX-Forwarded-For: {GUESTS}\r\n{upgrade}\r\n"
    async with behind_a_proxy(factor=0.1) as opened:
        statuses = []
        for _ in range(int(PER_ADDRESS[Action.PAGE].burst * 0.1) + 1):
            with raw_socket(opened.port, window=None) as socket:
                await socket.say(head.encode())
                answer, _, body = (await socket.read_to_the_end()).partition(b"\r\n\r\n")
            assert body == b""
            statuses.append(int(answer.split()[1]))
        assert statuses[-2:] == [503, 429]


async def test_slow_records_keep_no_other_page_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.transport.admission.ANSWER_WITHIN", 0.01)
    begun: asyncio.Queue[None] = asyncio.Queue()

    async def slow(request: Request) -> Response:
        if "records" in request.path:
            await begun.put(None)
            await asyncio.Event().wait()
        return await nothing_there(request)

    async with open_gateway(pages=slow) as opened:
        port = opened.port
        with ExitStack() as readers:
            for _ in range(LOADED_AT_ONCE):
                reader = readers.enter_context(raw_socket(port))
                await reader.say(f"{RECORDS} HTTP/1.1\r\nHost: server\r\n\r\n".encode())
                await begun.get()
            assert (await requested(opened, "GET /api/leaderboards/x"))[0] == 503
            assert (await requested(opened, RECORDS.replace("r", "%72")))[0] == 429


@pytest.mark.parametrize(
    ("proxies", "factor", "forwarded"),
    [(0, 0.02, GUESTS), (1, None, GUESTS), (0, 0.02, "127.0.0.1")],
)
async def test_this_machine_is_not_counted_unless_a_proxy_is_named(
    proxies: int, factor: float | None, forwarded: str
) -> None:
    async with behind_a_proxy(factor, proxies) as opened:
        for _ in range(10):
            assert (await requested(opened, RECORDS, forwarded))[0] == 404
        assert counted_by(opened.metrics, "limited_total") == {}


async def test_a_proxy_that_is_not_trusted_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with behind_a_proxy(proxies=0) as opened:
        for _ in range(3):
            await requested(opened, "GET /", GUESTS)
    assert [record.getMessage() for record in caplog.records] == ["proxy_not_trusted"]


@pytest.fixture
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply limits to clients on this machine as to all others."""
    monkeypatch.setattr("saratoga_server.transport.admission.is_loopback", lambda address: False)


@pytest.mark.usefixtures("strangers")
async def test_an_address_with_too_many_connections_is_refused_and_with_twice_as_many_cut() -> None:
    async with behind_a_proxy(factor=2 / MAX_CONNECTIONS_PER_ADDRESS, proxies=0) as opened:
        port = opened.port
        with ExitStack() as sockets:
            for status in (b" 101 ", b" 101 ", b" 429 ", b" 429 "):
                assert status in await sockets.enter_context(raw_socket(port)).shake_hands()
            with raw_socket(port) as one_more:
                assert await one_more.read_to_the_end() == b""
        assert counted_by(opened.metrics, "limited_total") == {"connections": 3}


@pytest.mark.usefixtures("strangers")
async def test_a_client_may_not_request_health_without_limit() -> None:
    async with behind_a_proxy(factor=0.1, proxies=0) as opened:
        burst = int(PER_ADDRESS[Action.PAGE].burst * 0.1)
        statuses = [(await requested(opened, "GET /readyz"))[0] for _ in range(burst + 1)]
        assert statuses == [503] * burst + [429]
    async with behind_a_proxy(factor=0.1) as opened:
        statuses = [(await requested(opened, "GET /readyz", GUESTS))[0] for _ in range(burst + 1)]
        assert statuses == [503] * burst + [429]
        assert (await requested(opened, "GET /readyz"))[0] == 503


async def test_the_address_of_a_session_is_the_clients() -> None:
    async with behind_a_proxy() as opened:
        with raw_socket(opened.port) as socket:
            await socket.shake_hands("X-Forwarded-For: 10.0.0.1", f"X-Forwarded-For: {GUESTS}")
        await opened.commands.next_ended()
    assert opened.commands.sessions[0].address == GUESTS
