"""HTTP requests over a real socket."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import pytest
from websockets.http11 import Request

from kit.gateways import open_gateway
from kit.public_server import FakePublicServer
from kit.web_pages import OWN, SCRIPT, WEB_FILES
from saratoga_server.transport.hosts import Hosts
from saratoga_server.transport.http_api import HttpPages


@pytest.fixture
def server() -> FakePublicServer:
    return FakePublicServer()


@pytest.fixture
async def port(server: FakePublicServer) -> AsyncIterator[int]:
    async with open_gateway(pages=HttpPages(server)) as opened:
        yield opened.port


async def exchange(port: int, request: str) -> tuple[str, dict[str, str], bytes]:
    """Send one request; return the status line, the headers and the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"{request}\r\nHost: localhost\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.read(), timeout=10)
    finally:
        writer.close()
        await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return status, dict(line.split(": ", 1) for line in lines), body


async def test_a_page_has_headers_that_restrict_its_use(port: int) -> None:
    status, headers, body = await exchange(port, "GET /api/leaderboards/canfield HTTP/1.1")
    assert status == "HTTP/1.1 200 OK"
    assert headers["Content-Type"] == "application/json"
    assert headers["Content-Length"] == str(len(body))
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "public, max-age=1"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert json.loads(body)["total"] == 1


async def test_head_is_get_without_the_body(port: int) -> None:
    _, of_get, body = await exchange(port, "GET /api/records/mint-otter-42/1 HTTP/1.1")
    status, of_head, nothing = await exchange(port, "HEAD /api/records/mint-otter-42/1 HTTP/1.1")
    assert (status, nothing) == ("HTTP/1.1 200 OK", b"")
    assert of_head["Content-Length"] == of_get["Content-Length"] == str(len(body))


async def test_a_preflight_request_is_answered(port: int) -> None:
    status, headers, body = await exchange(port, "OPTIONS /api/leaderboards/canfield HTTP/1.1")
    assert (status, body) == ("HTTP/1.1 200 OK", b"")
    assert headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"


async def test_the_root_says_what_this_is(port: int) -> None:
    status, headers, body = await exchange(port, "GET / HTTP/1.1")
    assert status == "HTTP/1.1 200 OK"
    assert headers["Content-Type"].startswith("text/plain")
    assert body.startswith(b"This is a Saratoga server")


async def test_the_page_is_served_compressed_and_once(server: FakePublicServer) -> None:
    path = f"/static/{WEB_FILES.version}/main.js"
    async with open_gateway(pages=HttpPages(server, WEB_FILES)) as opened:
        asked = f"GET {path} HTTP/1.1\r\nAccept-Encoding: gzip"
        status, headers, body = await exchange(opened.port, asked)
        assert status == "HTTP/1.1 200 OK"
        assert headers["Content-Length"] == str(len(body))
        assert gzip.decompress(body) == SCRIPT.body
        again = f"{asked}\r\nIf-None-Match: {headers['ETag']}"
        status, headers, body = await exchange(opened.port, again)
        assert (status, body) == ("HTTP/1.1 304 Not Modified", b"")
        assert "Content-Length" not in headers
        assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
        status, headers, body = await exchange(opened.port, f"HEAD {path} HTTP/1.1")
        assert (status, body) == ("HTTP/1.1 200 OK", b"")
        assert headers["Content-Length"] == str(len(SCRIPT.body))


async def test_a_server_with_tls_says_so_in_every_answer(server: FakePublicServer) -> None:
    request = Request(path="/healthz", headers=OWN, method="GET")
    for is_tls in (False, True):
        pages = HttpPages(server, WEB_FILES, Hosts(is_tls=is_tls))
        headers = (await pages(request)).headers
        assert ("Strict-Transport-Security" in headers) is is_tls
