"""The public HTTP pages: readiness, leaderboards, records; in memory and over a socket."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from kit.gateways import OWN, WEB_FILES, RawResponse, asking, exchange, open_gateway, request
from kit.tables import ANN, seated
from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import Leaderboard, LeaderboardRow
from saratoga_rules.games import prose
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_server.domain.replays import CannotReplay
from saratoga_server.domain.tables import CommandRejected, TableState
from saratoga_server.handlers.records import Replay
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable
from saratoga_server.transport.hosts import Hosts, qr_svg
from saratoga_server.transport.http_api import HttpPages
from saratoga_server.transport.http_responses import Page

BOARDS = Replay(gzip.compress(b'{"boards":[]}'), "0a1b2c")


class FakePublicServer(Node):
    """A server with one leaderboard and one finished race."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.fault: Exception | None = None
        self.stalls = False
        self.asked: list[GetLeaderboard] = []

    async def why_not_ready(self) -> str | None:
        return self.reason

    async def leaderboard(self, query: GetLeaderboard) -> Leaderboard:
        self.asked.append(query)
        if self.fault is not None:
            raise self.fault
        if self.stalls:
            await asyncio.Event().wait()
        if query.game != "canfield":
            raise CommandRejected("no_such_game")
        return Leaderboard(
            re=query.id,
            game=query.game,
            ranking=query.ranking,
            period=query.period,
            key="2026-09-01",
            bots=query.bots,
            total=1,
            offset=query.offset,
            rows=[LeaderboardRow(rank=1, player="p" * 16, name="Zoë", value=52)],
        )

    async def record(self, race: str) -> str:
        if race == "mint-otter-42/1":
            return "record of Zoë\n"
        raise CommandRejected("race_running" if race == "mint-otter-42/2" else "no_such_race")

    async def replay(self, race: str) -> Replay:
        if race == "mint-otter-42/4":
            raise CannotReplay("That race was voided.")
        if self.stalls:
            await asyncio.Event().wait()
        await self.record(race)
        return BOARDS

    async def table(self, code: str) -> TableState | None:
        return seated(ANN) if code == "mint-otter-42" else None

    async def has_race(self, race: str) -> bool:
        return race == "mint-otter-42/1"


# The public HTTP pages: readiness, leaderboards, records


HOST = Headers(Host="localhost")


@pytest.fixture
def server() -> FakePublicServer:
    return FakePublicServer()


async def get(server: FakePublicServer, target: str, method: str = "GET") -> Page:
    return await HttpPages(server).page(method, target, HOST)


def told(page: Page) -> tuple[int, str]:
    """Return the status and the code of a refusal, which must also have a message."""
    answer = json.loads(page.body)
    assert set(answer) == {"error", "message"}
    assert answer["message"].endswith(".")
    return page.status.value, answer["error"]


async def test_a_ready_server_says_so(server: FakePublicServer) -> None:
    page = await get(server, "/readyz")
    assert (page.status.value, json.loads(page.body)) == (200, {"status": "ready"})
    assert page.cache == "no-store"
    server.fault = StoreUnavailable()
    page = await get(server, "/healthz")
    assert (page.status.value, json.loads(page.body)) == (200, {"status": "alive"})


async def test_a_server_that_is_not_ready_says_why(server: FakePublicServer) -> None:
    server.reason = "The server is about to stop."
    page = await get(server, "/readyz")
    assert told(page) == (503, "not_ready")
    assert json.loads(page.body)["message"] == "The server is about to stop."
    assert ("Retry-After", "1") in page.more


async def test_the_rules_of_a_game_are_its_own_words(server: FakePublicServer) -> None:
    page = await get(server, "/api/rules/lady-palk")
    rules = json.loads(page.body)
    assert (rules["game"], rules["title"]) == ("lady-palk", "Lady Palk")
    assert rules["about"] == list(prose(LADY_PALK))
    assert rules["rules"] == [list(rule) for rule in LADY_PALK.describe()]
    assert told(await get(server, "/api/rules/poker")) == (404, "no_such_game")


async def test_a_leaderboard_is_the_event_of_the_wire_as_json(server: FakePublicServer) -> None:
    page = await get(server, "/api/leaderboards/canfield")
    answer = json.loads(page.body)
    assert answer["type"] == "leaderboard"
    assert "re" not in answer
    assert answer["key"] == "2026-09-01"
    assert answer["rows"] == [{"rank": 1, "player": "p" * 16, "name": "Zoë", "value": 52}]
    assert server.asked == [GetLeaderboard(id=1, game="canfield")]


async def test_every_parameter_of_a_leaderboard_is_used(server: FakePublicServer) -> None:
    query = "ranking=bankroll&period=month&bots=true&offset=40&limit=100"
    await get(server, f"/api/leaderboards/canfield?{query}")
    assert server.asked == [
        GetLeaderboard(
            id=1,
            game="canfield",
            ranking="bankroll",
            period="month",
            bots=True,
            offset=40,
            limit=100,
        )
    ]


@pytest.mark.parametrize(
    "query",
    [
        "ranking=worst",
        "period=year",
        "bots=perhaps",
        "limit=0",
        "limit=101",
        "offset=-1",
        "offset=x",
        "offset=",
        "around_me=true",
        "id=7",
        "&".join(f"limit={number}" for number in range(99)),
    ],
)
async def test_a_parameter_that_is_wrong_is_refused_by_name(
    server: FakePublicServer, query: str
) -> None:
    page = await get(server, f"/api/leaderboards/canfield?{query}")
    assert told(page) == (400, "bad_query")
    assert server.asked == []


async def test_the_link_to_a_table_is_drawn_for_browsers(server: FakePublicServer) -> None:
    pages = HttpPages(server, WEB_FILES)
    page = await pages.page("GET", "/api/qr/mint-otter-42.svg", OWN)
    assert (page.status, page.kind) == (200, "image/svg+xml")
    assert page.body == qr_svg("http://localhost:7470/mint-otter-42")
    for path, headers in (
        ("/api/qr/mint-otter-43.svg", OWN),
        ("/api/qr/nothing.svg", OWN),
    ):
        assert told(await pages.page("GET", path, headers)) == (404, "no_such_table")


@pytest.mark.parametrize(
    ("race", "code"),
    [
        ("mint-otter-42/2", "race_running"),
        ("mint-otter-42/3", "no_such_race"),
        ("mint-otter-42/4", "no_boards"),
        ("mint-otter-42/0", "no_such_race"),
    ],
)
async def test_boards_open_when_the_race_is_over(
    server: FakePublicServer, race: str, code: str
) -> None:
    assert told(await get(server, f"/api/records/{race}/boards")) == (404, code)


async def test_data_are_read_by_pages_elsewhere_only_from_a_public_server_by_its_name(
    server: FakePublicServer,
) -> None:
    any_origin = ("Access-Control-Allow-Origin", "*")
    request = Request("/api/leaderboards/canfield", HOST)
    at_home = await HttpPages(server)(request)
    assert at_home.status_code == 200
    assert any_origin not in at_home.headers.raw_items()
    public = await HttpPages(server, hosts=Hosts(public_url="wss://cards.example.org"))(request)
    assert any_origin in public.headers.raw_items()
    rebound = Headers(Host="evil.example")
    page = await HttpPages(server).page("GET", "/api/leaderboards/canfield", rebound)
    assert told(page) == (421, "not_served")


async def test_boards_are_sent_compressed_once(server: FakePublicServer) -> None:
    path, pages = "/api/records/mint-otter-42/1/boards", HttpPages(server)
    page = await pages.page("GET", path, asking(accept_encoding="gzip"))
    assert (page.status, page.body, page.kind) == (200, BOARDS.compressed, "application/json")
    assert ("Content-Encoding", "gzip") in page.more
    known = asking(accept_encoding="gzip", if_none_match='"0a1b2c"')
    page = await pages.page("GET", path, known)
    assert (page.status, page.body) == (304, b"")
    page = await pages.page("GET", path, HOST)
    assert json.loads(page.body) == {"boards": []}
    assert "Content-Encoding" not in dict(page.more)


@pytest.mark.parametrize("target", ["/api", "/api/nothing", "/api/records/mint-otter-42"])
async def test_programs_are_told_what_is_missing_as_json(
    server: FakePublicServer, target: str
) -> None:
    page = await HttpPages(server, WEB_FILES).page("GET", target, OWN)
    assert told(page) == (404, "no_such_page")


async def test_the_page_is_not_shown_under_a_name_of_somebody_else(
    server: FakePublicServer,
) -> None:
    pages = HttpPages(server, WEB_FILES)
    rebound = Headers([("Host", "evil.example")])
    for target in ("/", "/mint-otter-42", f"/static/{WEB_FILES.version}/main.js"):
        page = await pages.page("GET", target, rebound)
        assert page.status == 421
        assert b"--public-url" in page.body
    assert (await pages.page("GET", "/healthz", rebound)).status == 200


async def test_an_address_that_cannot_be_read_is_refused(server: FakePublicServer) -> None:
    assert told(await get(server, "http://[::1/healthz")) == (400, "bad_request")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE"])
async def test_pages_are_only_read(server: FakePublicServer, method: str) -> None:
    page = await get(server, "/healthz", method)
    assert told(page) == (405, "read_only")
    assert ("Allow", "GET, HEAD, OPTIONS") in page.more


async def test_a_store_out_of_reach_is_named(server: FakePublicServer) -> None:
    server.fault = StoreUnavailable()
    assert told(await get(server, "/api/leaderboards/canfield")) == (503, "store_unavailable")


async def test_a_fault_of_the_server_shows_nothing_of_itself(
    server: FakePublicServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = KeyError("inner secrets")
    page = await get(server, "/api/leaderboards/canfield")
    assert told(page) == (500, "server_fault")
    assert b"secrets" not in page.body
    assert [record.getMessage() for record in caplog.records] == ["server_fault"]


# HTTP requests over a real socket


@pytest.fixture
async def port(server: FakePublicServer) -> AsyncIterator[int]:
    async with open_gateway(pages=HttpPages(server)) as opened:
        yield opened.port


async def asked(port: int, line: str) -> RawResponse:
    """Send one request."""
    return await exchange(port, request(line, "Host: localhost"))


async def test_a_page_has_headers_that_restrict_its_use(port: int) -> None:
    page = await asked(port, "GET /api/leaderboards/canfield HTTP/1.1")
    assert page.status == 200
    assert page.headers["content-type"] == "application/json"
    assert page.headers["content-length"] == str(len(page.body))
    assert "access-control-allow-origin" not in page.headers
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "public, max-age=1"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert json.loads(page.body)["total"] == 1


async def test_head_is_get_without_the_body(port: int) -> None:
    got = await asked(port, "GET /api/records/mint-otter-42/1 HTTP/1.1")
    head = await asked(port, "HEAD /api/records/mint-otter-42/1 HTTP/1.1")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.body))


async def test_a_preflight_request_is_answered(port: int) -> None:
    page = await asked(port, "OPTIONS /api/leaderboards/canfield HTTP/1.1")
    assert (page.status, page.body) == (200, b"")
    assert page.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"


async def test_the_root_says_what_this_is(port: int) -> None:
    page = await asked(port, "GET / HTTP/1.1")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/plain")
    assert page.body.startswith(b"This is a Saratoga server")


async def test_a_server_with_tls_says_so_in_every_answer(server: FakePublicServer) -> None:
    request = Request(path="/healthz", headers=OWN, method="GET")
    for is_tls in (False, True):
        pages = HttpPages(server, WEB_FILES, Hosts(is_tls=is_tls))
        headers = (await pages(request)).headers
        assert ("Strict-Transport-Security" in headers) is is_tls
