"""Hostile handshakes: foreign origins, smuggled requests, broken headers, unwanted extensions."""

from collections.abc import AsyncIterator
from typing import Final

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from kit.listening_server import ListeningServer, listening_server
from kit.raw_client import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    TEXT,
    close_code,
    exchange,
    frame,
    handshake,
    request,
    split_frames,
)
from saratoga_protocol.version import JSON, MSGPACK
from saratoga_server.store.opening import Store

EVIL: Final = "https://evil.example"


@pytest.fixture
async def server(valkey: Store) -> AsyncIterator[ListeningServer]:
    async with listening_server(valkey) as opened:
        yield opened


# Pages of other sites


@pytest.mark.parametrize("origin", [EVIL, "null", "", "http://127.0.0.1", "file://", f"{EVIL}, x"])
async def test_a_page_of_another_site_gets_no_connection(
    server: ListeningServer, origin: str
) -> None:
    with pytest.raises(InvalidStatus) as no:
        async with connect(server.url, subprotocols=[Subprotocol(MSGPACK)], origin=Origin(origin)):
            pass
    assert no.value.response.status_code == 403


async def test_a_second_origin_header_gets_no_connection(server: ListeningServer) -> None:
    answer = await exchange(server.port, handshake(f"Origin: {EVIL}", "Origin: null"))
    assert answer.status in (400, 403)


async def test_a_client_without_an_origin_is_admitted(server: ListeningServer) -> None:
    answer = await exchange(server.port, handshake())
    assert answer.status == 101


async def test_a_page_of_another_site_may_read_no_answer(
    server: ListeningServer,
) -> None:
    plain = request("GET /api/leaderboards/canfield HTTP/1.1", "Host: localhost")
    foreign = request(
        *("GET /api/leaderboards/canfield HTTP/1.1", "Host: localhost", f"Origin: {EVIL}"),
        *("Cookie: token=5a5a", "Authorization: Bearer 5a5a"),
    )
    ours, theirs = await exchange(server.port, plain), await exchange(server.port, foreign)
    assert ours.body == theirs.body
    assert theirs.status == 200
    # Without a public URL, browsers show the answer to no page of another site.
    assert theirs.headers.keys().isdisjoint(
        {
            "access-control-allow-origin",
            "access-control-allow-credentials",
            "access-control-allow-headers",
            "set-cookie",
        }
    )


# Smuggling


@pytest.mark.parametrize(
    "first",
    [
        request("POST / HTTP/1.1", "Host: localhost", "Content-Length: 5"),
        request("POST / HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked"),
        request(
            "GET / HTTP/1.1", "Host: localhost", "Content-Length: 5", "Transfer-Encoding: chunked"
        ),
        request("GET / HTTP/1.1", "Host: localhost", "Content-Length: 0", "Content-Length: 40"),
        request("GET /healthz HTTP/1.1", "Host: localhost"),
        request("GET /healthz HTTP/1.1", "Host: localhost", "Connection: keep-alive"),
        request("GET / HTTP/1.1", "Host: localhost", "X: a\nGET /readyz HTTP/1.1"),
        request("OPTIONS * HTTP/1.1", "Host: localhost"),
        handshake(subprotocol="chat"),
    ],
)
async def test_a_request_hidden_in_another_requests_body_is_not_answered(
    server: ListeningServer, first: bytes
) -> None:
    """Otherwise an attacker could smuggle a request past a proxy that sees one request only."""
    hidden = request("GET /readyz HTTP/1.1", "Host: localhost")
    answer = await exchange(server.port, first + b"0\r\n\r\n" + hidden, hidden)
    assert answer.answers == 1
    assert b'"ready"' not in answer.raw
    assert answer.headers["connection"].lower() == "close"


@pytest.mark.parametrize(
    ("more", "statuses"),
    [
        ((), {101}),
        (("Upgrade: websocket",), {101, 400, 426}),
        (("Upgrade: h2c",), {400, 426}),
        (("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",), {400}),
        (("Sec-WebSocket-Version: 8",), {400, 426}),
        (("X-Long: " + "x" * 9000,), {431}),
        (tuple(f"X-{number}: y" for number in range(300)), {431}),
        ((" folded: y",), {400}),
        (("no colon",), {400}),
    ],
)
async def test_a_header_twice_too_long_or_broken_is_no_server_error(
    server: ListeningServer, more: tuple[str, ...], statuses: set[int]
) -> None:
    answer = await exchange(server.port, handshake(*more))
    assert answer.status in statuses, answer.raw[:200]
    assert b"Traceback" not in answer.raw


@pytest.mark.parametrize("missing", ["Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version"])
async def test_an_incomplete_handshake_is_refused(server: ListeningServer, missing: str) -> None:
    answer = await exchange(server.port, handshake(without=[missing]))
    assert answer.status in (200, 400, 426)


@pytest.mark.parametrize(
    ("line", "statuses"),
    [
        ("POST / HTTP/1.1", {400, 405}),
        ("DELETE /api/records/mint-otter-42/1 HTTP/1.1", {400, 405}),
        ("TRACE / HTTP/1.1", {400, 405}),
        ("CONNECT evil.example:443 HTTP/1.1", {400, 405}),
        ("GET http://evil.example/ HTTP/1.1", {200, 400, 404}),
        ("GET //evil.example/ HTTP/1.1", {200, 400, 404}),
        ("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1", {404}),
        ("GET /api/records/..%2f..%2fetc/passwd HTTP/1.1", {404}),
        ("GET /api/records/mint-otter-42/1%00 HTTP/1.1", {404}),
        ("GET /api/leaderboards/canfield?limit=1;limit=2 HTTP/1.1", {400}),
        ("GET /api/leaderboards/canfield?__class__=x HTTP/1.1", {400}),
        ("GET /metrics HTTP/1.1", {404}),
        ("GET /admin HTTP/1.1", {404}),
        ("GET / HTTP/1.0", {200, 400, 505}),
        ("GET / HTTP/9.9", {400, 505}),
        ("GET /" + "a" * 9000 + " HTTP/1.1", {414, 431}),
    ],
)
async def test_other_methods_and_paths_are_refused(
    server: ListeningServer, line: str, statuses: set[int]
) -> None:
    answer = await exchange(server.port, request(line, "Host: localhost"))
    assert answer.status in statuses, answer.raw[:200]
    assert b"root:" not in answer.raw
    assert b"Traceback" not in answer.raw


# Subprotocols and extensions


@pytest.mark.parametrize(
    "offered", ["chat", "saratoga.v2.json", "SARATOGA.V1.JSON", "saratoga.v1.json.evil", ",,", None]
)
async def test_other_subprotocols_are_refused(server: ListeningServer, offered: str | None) -> None:
    answer = await exchange(server.port, handshake(subprotocol=offered))
    assert answer.status == 400


@pytest.mark.parametrize("offered", [f"{JSON}, {MSGPACK}", f"chat, {JSON}", f"{JSON}, {JSON}"])
async def test_the_server_chooses_a_subprotocol_that_was_offered(
    server: ListeningServer, offered: str
) -> None:
    answer = await exchange(server.port, handshake(subprotocol=offered))
    assert answer.status == 101
    assert answer.headers["sec-websocket-protocol"] in offered.split(", ")


@pytest.mark.parametrize(
    "offer",
    [
        "permessage-deflate",
        "permessage-deflate; client_max_window_bits; server_max_window_bits=8",
        "x-webkit-deflate-frame",
        "permessage-deflate, permessage-deflate; client_no_context_takeover",
    ],
)
async def test_compression_is_declined_whatever_is_offered(
    server: ListeningServer, offer: str
) -> None:
    opening = handshake(f"Sec-WebSocket-Extensions: {offer}")
    # A compressed frame, although compression was declined: its first reserved bit is set.
    answer = await exchange(server.port, opening, frame(b"\x00", 0x40 | BINARY))
    assert answer.status == 101
    assert "sec-websocket-extensions" not in answer.headers
    assert close_code(split_frames(answer.body)[0]) == 1002


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (frame(b"x", 3), 1002),  # an unknown opcode
        (frame(b"x", CONTINUATION), 1002),  # a continuation frame without a message
        (frame(b"x" * 3, PING, fin=False), 1002),  # a fragmented ping
        (b"\x82\x01x", 1002),  # not masked
        (b"\x82\xff\x00\x00\x00\x00\x00\x01\x00\x00\0\0\0\0", 1009),  # longer than allowed
        (b"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 1002),  # longer than possible
        (frame(b"\xff\xfe", TEXT), 1007),  # invalid UTF-8
        (frame(b"\x03\xe8", CLOSE), 1000),
        (frame(b"\x00\x01", CLOSE), 1002),  # an invalid close code
    ],
)
async def test_a_broken_frame_ends_the_connection_with_a_code_that_is_documented(
    server: ListeningServer, broken: bytes, code: int
) -> None:
    answer = await exchange(server.port, handshake(subprotocol=JSON), broken)
    assert answer.status == 101
    assert close_code(split_frames(answer.body)[0]) in (code, 1009)
