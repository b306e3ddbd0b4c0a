"""Hostile handshakes: foreign origins, smuggled requests, broken headers, unwanted extensions."""

from typing import Final

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from kit.gateways import (
    BINARY,
    exchange,
    frame,
    handshake,
    request,
)
from kit.in_process_server import ListeningServer
from saratoga_protocol.codec import JSON, MSGPACK

EVIL: Final = "https://evil.example"


async def test_a_page_of_another_site_gets_no_connection(listener: ListeningServer) -> None:
    for origin in (EVIL, "null", "", "http://127.0.0.1", "file://", f"{EVIL}, x"):
        asked = connect(listener.url, subprotocols=[Subprotocol(MSGPACK)], origin=Origin(origin))
        with pytest.raises(InvalidStatus) as no:
            async with asked:
                pass
        assert no.value.response.status_code == 403, origin


async def test_a_page_of_another_site_may_read_no_answer(
    listener: ListeningServer,
) -> None:
    plain = request("GET /api/leaderboards/canfield HTTP/1.1", "Host: localhost")
    foreign = request(
        *("GET /api/leaderboards/canfield HTTP/1.1", "Host: localhost", f"Origin: {EVIL}"),
        *("Cookie: token=5a5a", "Authorization: Bearer 5a5a"),
    )
    ours, theirs = await exchange(listener.port, plain), await exchange(listener.port, foreign)
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


FIRST: Final = (
    request("POST / HTTP/1.1", "Host: localhost", "Content-Length: 5"),
    request("POST / HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked"),
    request("GET / HTTP/1.1", "Host: localhost", "Content-Length: 5", "Transfer-Encoding: chunked"),
    request("GET / HTTP/1.1", "Host: localhost", "Content-Length: 0", "Content-Length: 40"),
    request("GET /healthz HTTP/1.1", "Host: localhost"),
    request("GET /healthz HTTP/1.1", "Host: localhost", "Connection: keep-alive"),
    request("GET / HTTP/1.1", "Host: localhost", "X: a\nGET /readyz HTTP/1.1"),
    request("OPTIONS * HTTP/1.1", "Host: localhost"),
    handshake(subprotocol="chat"),
)


async def test_a_request_hidden_in_another_requests_body_is_not_answered(
    listener: ListeningServer,
) -> None:
    """Otherwise an attacker could smuggle a request past a proxy that sees one request only."""
    hidden = request("GET /readyz HTTP/1.1", "Host: localhost")
    for first in FIRST:
        answer = await exchange(listener.port, first + b"0\r\n\r\n" + hidden, hidden)
        assert answer.answers == 1, first
        assert b'"ready"' not in answer.raw, first
        assert answer.headers["connection"].lower() == "close", first


HANDSHAKES: Final = (
    (handshake(), {101}),  # a program, which has no origin
    (handshake(f"Origin: {EVIL}", "Origin: null"), {400, 403}),
    (handshake("Upgrade: websocket"), {101, 400, 426}),
    (handshake("Upgrade: h2c"), {400, 426}),
    (handshake("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="), {400}),
    (handshake("Sec-WebSocket-Version: 8"), {400, 426}),
    (handshake("X-Long: " + "x" * 9000), {431}),
    (handshake(*(f"X-{number}: y" for number in range(300))), {431}),
    (handshake(" folded: y"), {400}),
    (handshake("no colon"), {400}),
    (handshake(without=["Upgrade"]), {200, 400, 426}),
    (handshake(without=["Sec-WebSocket-Key"]), {200, 400, 426}),
    (handshake(without=["Sec-WebSocket-Version"]), {200, 400, 426}),
    (handshake(subprotocol="chat"), {400}),
    (handshake(subprotocol="saratoga.v2.json"), {400}),
    (handshake(subprotocol="SARATOGA.V1.JSON"), {400}),
    (handshake(subprotocol="saratoga.v1.json.evil"), {400}),
    (handshake(subprotocol=",,"), {400}),
    (handshake(subprotocol=None), {400}),
)
"""Handshakes, and the statuses with which they may be answered."""

LINES: Final = (
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
)
"""First lines of other requests, and the statuses with which they may be answered."""


async def test_a_broken_handshake_another_method_or_path_is_no_server_error(
    listener: ListeningServer,
) -> None:
    others = [(request(line, "Host: localhost"), statuses) for line, statuses in LINES]
    for sent, statuses in (*HANDSHAKES, *others):
        answer = await exchange(listener.port, sent)
        assert answer.status in statuses, (sent[:200], answer.raw[:200])
        assert b"root:" not in answer.raw, sent[:200]
        assert b"Traceback" not in answer.raw, sent[:200]


async def test_the_server_chooses_a_subprotocol_that_was_offered(listener: ListeningServer) -> None:
    for offered in (f"{JSON}, {MSGPACK}", f"chat, {JSON}", f"{JSON}, {JSON}"):
        answer = await exchange(listener.port, handshake(subprotocol=offered))
        assert answer.status == 101, offered
        assert answer.headers["sec-websocket-protocol"] in offered.split(", ")


async def test_compression_is_declined_whatever_is_offered(listener: ListeningServer) -> None:
    for offer in (
        "permessage-deflate",
        "permessage-deflate; client_max_window_bits; server_max_window_bits=8",
        "x-webkit-deflate-frame",
        "permessage-deflate, permessage-deflate; client_no_context_takeover",
    ):
        opening = handshake(f"Sec-WebSocket-Extensions: {offer}")
        # A compressed frame, although compression was declined: its first reserved bit is set.
        answer = await exchange(listener.port, opening, frame(b"\x00", 0x40 | BINARY))
        assert answer.status == 101, offer
        assert "sec-websocket-extensions" not in answer.headers, offer
        # a close frame, then its length, then its code
        assert answer.body[:1] == b"\x88", offer
        assert int.from_bytes(answer.body[2:4], "big") == 1002, offer
