"""Admission of requests, and the address of a client behind a proxy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from http import HTTPStatus

import pytest
from websockets.http11 import Request, Response

from kit.counted import counted_by
from kit.gateways import OpenGateway, open_gateway
from kit.raw_client import raw_socket
from saratoga_server.limits import MAX_CONNECTIONS_PER_ADDRESS, PER_ADDRESS, Action
from saratoga_server.transport.admission import Pages
from saratoga_server.transport.http_responses import refusal_page, response
from saratoga_server.transport.response_budget import LOADED_AT_ONCE

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


async def asked(opened: OpenGateway, line: str, *forwarded: str) -> tuple[int, dict[str, str]]:
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
        answers = [await asked(opened, "GET /api/leaderboards/x", GUESTS) for _ in range(burst + 1)]
        assert [status for status, _ in answers] == [503] * burst + [429]
        assert answers[-1][1]["Retry-After"] == "1"
        # the entries to the left come from the client and cannot be trusted
        assert (await asked(opened, "GET /", f"127.0.0.1, {GUESTS}"))[0] == 429
        assert (await asked(opened, "GET /", "10.9.9.9", GUESTS))[0] == 429
        assert (await asked(opened, "GET /", "198.51.100.1"))[0] == 503
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
            assert (await asked(opened, "GET /api/leaderboards/x"))[0] == 503
            assert (await asked(opened, RECORDS.replace("r", "%72")))[0] == 429


@pytest.mark.parametrize(
    ("proxies", "factor", "forwarded"),
    [(0, 0.02, GUESTS), (1, None, GUESTS), (0, 0.02, "127.0.0.1")],
)
async def test_this_machine_is_not_counted_unless_a_proxy_is_named(
    proxies: int, factor: float | None, forwarded: str
) -> None:
    async with behind_a_proxy(factor, proxies) as opened:
        for _ in range(10):
            assert (await asked(opened, RECORDS, forwarded))[0] == 404
        assert counted_by(opened.metrics, "limited_total") == {}


async def test_a_proxy_that_is_not_trusted_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with behind_a_proxy(proxies=0) as opened:
        for _ in range(3):
            await asked(opened, "GET /", GUESTS)
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
        statuses = [(await asked(opened, "GET /readyz"))[0] for _ in range(burst + 1)]
        assert statuses == [503] * burst + [429]
    async with behind_a_proxy(factor=0.1) as opened:
        statuses = [(await asked(opened, "GET /readyz", GUESTS))[0] for _ in range(burst + 1)]
        assert statuses == [503] * burst + [429]
        assert (await asked(opened, "GET /readyz"))[0] == 503


async def test_the_address_of_a_session_is_the_clients() -> None:
    async with behind_a_proxy() as opened:
        with raw_socket(opened.port) as socket:
            await socket.shake_hands("X-Forwarded-For: 10.0.0.1", f"X-Forwarded-For: {GUESTS}")
        await opened.commands.next_ended()
    assert opened.commands.sessions[0].address == GUESTS
