"""nginx with the settings of `deploy/nginx`, before two nodes on one Valkey: pages, limits, whole races, a node that stops."""

import asyncio
import re
import ssl
from collections import Counter
from contextlib import AsyncExitStack
from ipaddress import IPv6Address
from itertools import product
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from kit.auditor import check_race
from kit.deployment import DEPLOY, Deployment, Proxy, open_proxy, scraped
from kit.players import RECEIVED_WITHIN
from kit.racing_bots import LINE_UP, players_at_a_table
from saratoga_protocol.codec import SUBPROTOCOLS

pytestmark = [pytest.mark.needs("nginx", "openssl"), pytest.mark.asyncio(loop_scope="module")]

SUBPROTOCOLS_OFFERED = [Subprotocol(name) for name in SUBPROTOCOLS]

HOUSEHOLD = 64
"""The number of connections of sixteen friends with three bots each."""
FLOOD = 256

MALFORMED = (
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
    b"GET /\xff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Odd: a\x01b\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
)
"""Requests that nginx forwards and a WebSocket server cannot parse."""


def trusting(proxy: Proxy) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(proxy.certificate))


def page(proxy: Proxy, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    request = Request(f"https://127.0.0.1:{proxy.port}{path}", headers=headers)
    try:
        with urlopen(request, timeout=10, context=trusting(proxy)) as answer:
            return answer.status, dict(answer.headers), answer.read().decode(errors="replace")
    except HTTPError as fault:
        with fault:
            return fault.code, dict(fault.headers), fault.read().decode()


async def test_pages_are_cached_shortly_and_have_security_headers(
    deployment: Deployment,
) -> None:
    proxy = deployment.proxy
    answers = [await asyncio.to_thread(page, proxy, "/api/leaderboards/canfield") for _ in range(3)]
    assert {status for status, _, _ in answers} == {200}
    assert "HIT" in {headers["X-Cache"] for _, headers, _ in answers}
    _, headers, _ = answers[0]
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Server"] == "nginx"
    assert (await asyncio.to_thread(page, proxy, "/readyz"))[0] == 200


def files_of(document: str) -> list[str]:
    """Return the paths of the files that the page's document names."""
    return sorted(set(re.findall(r'"(/static/[^"]+)"', document)))


async def test_the_page_comes_through_and_its_files_are_kept(deployment: Deployment) -> None:
    proxy = deployment.proxy
    status, headers, document = await asyncio.to_thread(page, proxy, "/")
    assert status == 200
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    files = files_of(document)
    assert any(path.endswith("/main.js") for path in files)
    for _ in range(2):
        answers = [await asyncio.to_thread(page, proxy, path) for path in files]
        assert {status for status, _, _ in answers} == {200}
    assert {headers["X-Cache"] for _, headers, _ in answers} == {"HIT"}
    assert (await asyncio.to_thread(page, proxy, "/no-table-00"))[0] == 404


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 101), ("evil.example", 403)])
async def test_only_the_page_from_this_proxy_may_connect(
    deployment: Deployment, host: str, status: int
) -> None:
    context = trusting(deployment.proxy)
    origin = Origin(f"https://{host}:{deployment.proxy.port}")
    try:
        async with connect(
            deployment.proxy.url, ssl=context, subprotocols=SUBPROTOCOLS_OFFERED, origin=origin
        ):
            found = 101
    except InvalidStatus as refused:
        found = refused.response.status_code
    assert found == status


async def test_metrics_are_not_served_to_the_outside(deployment: Deployment) -> None:
    for path in ("/metrics", "/metrics/", "//metrics", "/%6detrics"):
        status, _, body = await asyncio.to_thread(page, deployment.proxy, path)
        assert (status, "saratoga_" in body) == (404, False), path


async def test_requests_without_tls_are_redirected(deployment: Deployment) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", deployment.proxy.plain_port)
    writer.write(b"GET /mint-otter-42 HTTP/1.1\r\nHost: patience.example.org\r\n\r\n")
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    await writer.wait_closed()
    assert head.startswith("HTTP/1.1 308 ")
    assert "Location: https://patience.example.org/mint-otter-42\r\n" in head


async def test_an_address_header_from_a_client_is_ignored(
    deployment: Deployment,
) -> None:
    async with connect(
        deployment.proxy.url,
        ssl=trusting(deployment.proxy),
        subprotocols=SUBPROTOCOLS_OFFERED,
        additional_headers={"X-Forwarded-For": "203.0.113.7", "X-Real-IP": "203.0.113.7"},
    ):
        pass
    came: set[str] = set()
    async with asyncio.timeout(RECEIVED_WITHIN):
        while not came:  # a thread writes the log
            await asyncio.sleep(0.01)
            every = (event for node in deployment.nodes for event in node.events())
            came = {event["address"] for event in every if event["event"] == "connected"}
    assert came == {"127.0.0.1"}


async def test_a_household_connects_at_once_and_a_flood_is_refused_with_429(
    deployment: Deployment,
) -> None:
    context = trusting(deployment.proxy)
    with open_proxy(*(node.port for node in deployment.nodes)) as proxy:
        context.load_verify_locations(proxy.certificate)
        async with AsyncExitStack() as kept:

            async def open_and_keep() -> int:
                """Open a connection and keep it open; return the HTTP status of the handshake."""
                connection = connect(proxy.url, ssl=context, subprotocols=SUBPROTOCOLS_OFFERED)
                try:
                    await kept.enter_async_context(connection)
                except InvalidStatus as refused:
                    return refused.response.status_code
                return 101

            household = await asyncio.gather(*(open_and_keep() for _ in range(HOUSEHOLD)))
            assert set(household) == {101}
            flood = await asyncio.gather(*(open_and_keep() for _ in range(FLOOD)))
            assert set(flood) == {101, 429}


async def handshake_status(proxy: Proxy) -> int:
    """Open a connection and close it; return the HTTP status of the handshake."""
    try:
        async with connect(proxy.url, ssl=trusting(proxy), subprotocols=SUBPROTOCOLS_OFFERED):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


async def first_line_of_response(proxy: Proxy, request: bytes) -> bytes:
    """Send a request; return the first line of the response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, ssl=trusting(proxy))
    try:
        writer.write(request)
        return await reader.readline()
    finally:
        writer.close()
        await writer.wait_closed()


async def test_malformed_requests_take_no_node_out_of_service(deployment: Deployment) -> None:
    for request in MALFORMED:
        for _ in deployment.nodes:
            assert (await first_line_of_response(deployment.proxy, request)).startswith(
                b"HTTP/1.1 400 "
            ), request
        assert await handshake_status(deployment.proxy) == 101, request


SITE = (DEPLOY / "nginx" / "saratoga.conf").read_text()

[MAP] = re.findall(r"^map \$remote_addr .*?^}$", SITE, re.MULTILINE | re.DOTALL)
KEYS = [
    (pattern.replace("(?<", "(?P<"), re.sub(r"\$(\w+)", r"{\1}", key))
    for pattern, key in re.findall(r'"~(.+)" +(\S+);', MAP)
]


def household(address: str) -> str:
    """Return the key by which nginx counts an address; the first pattern that matches decides."""
    for pattern, key in KEYS:
        if found := re.search(pattern, address):
            return key.format(**found.groupdict())
    return address


async def test_connections_are_counted_by_ipv4_address_or_ipv6_network() -> None:
    """nginx omits runs of zeros in an address, as `IPv6Address` does, so zeros are tried in all places."""
    for network in product((0, 0xDB8), repeat=3):
        first = ":".join(f"{part:x}" for part in (0x2001, *network))
        for host in product((0, 1), repeat=4):
            address = IPv6Address(":".join([first, *(f"{part:x}" for part in host)]))
            assert household(str(address)) == first, address
    assert household("203.0.113.7") == "203.0.113.7"
    assert "default $binary_remote_addr;" in MAP
    keys = re.findall(r"^limit_(?:conn|req)_zone +(\S+)", SITE, re.MULTILINE)
    assert keys == ["$saratoga_household"] * 3


async def test_a_race_goes_through_the_proxy_and_the_metrics_show_it(
    deployment: Deployment,
) -> None:
    proxy, nodes = deployment.proxy, deployment.nodes
    async with players_at_a_table(proxy.url, "canfield", "Player") as players:
        await asyncio.gather(*(player.race(1, 0, len(LINE_UP)) for player in players))
        (race,) = players[0].notes.outcomes
        totals = await scraped(nodes)
        all_notes = [player.notes for player in players]
        await check_race(players[0].connection, race, all_notes)
    assert totals["saratoga_acknowledgement_seconds_count"] == sum(
        len(notes.acknowledged) for notes in all_notes
    )
    assert totals["saratoga_connections"] == len(LINE_UP)
    assert totals["saratoga_races_begun_total"] == totals["saratoga_races_over_total"] == 1
    sent = Counter(
        str(type(command).__struct_config__.tag)
        for notes in all_notes
        for command in notes.sent.values()
    )
    assert totals["saratoga_commands_total[move]"] == sent["move"]
    assert totals["saratoga_commands_total[hello]"] == len(LINE_UP)
    assert totals["saratoga_ready"] == len(nodes)
    assert totals["saratoga_slow_clients_total"] == totals["saratoga_store_errors_total"] == 0


async def test_a_node_that_stops_in_mid_race_costs_its_players_a_retry(
    deployment: Deployment,
) -> None:
    proxy, [leaving, staying] = deployment.proxy, deployment.nodes
    async with players_at_a_table(proxy.url, "canfield", "Later") as players:
        raced = asyncio.gather(*(player.race(1, 50, len(LINE_UP)) for player in players))
        racing = asyncio.Event()
        host = players[0].notes
        host.on_news = lambda: racing.set() if len(host.acknowledged) > 5 else None
        await racing.wait()
        moving = (await scraped([leaving]))["saratoga_connections"]
        assert 0 < moving < len(LINE_UP)
        assert await leaving.stop() == 0
        await raced
        (race,) = players[0].notes.outcomes
        all_notes = [player.notes for player in players]
        await check_race(players[0].connection, race, all_notes)
        totals = await scraped([staying])
    assert sum(len(notes.connected) for notes in all_notes) == len(LINE_UP) + moving
    assert totals["saratoga_connections"] == len(LINE_UP)
