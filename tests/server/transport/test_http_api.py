"""The public HTTP pages: readiness, leaderboards, records."""

import json

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from kit.public_server import BOARDS, FakePublicServer
from kit.web_pages import OWN, WEB_FILES, asking
from saratoga_protocol.commands import GetLeaderboard
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.prose import prose
from saratoga_server.ports import StoreUnavailable
from saratoga_server.transport import http_api as http
from saratoga_server.transport.hosts import Hosts
from saratoga_server.transport.http_api import HttpPages
from saratoga_server.transport.http_responses import Page
from saratoga_server.transport.qr_codes import qr_svg

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


async def test_a_live_process_says_so_whatever_its_store_does(server: FakePublicServer) -> None:
    server.reason, server.fault = "The store is out of reach.", StoreUnavailable()
    page = await get(server, "/healthz")
    assert (page.status.value, json.loads(page.body)) == (200, {"status": "alive"})


async def test_a_ready_server_says_so(server: FakePublicServer) -> None:
    page = await get(server, "/readyz")
    assert (page.status.value, json.loads(page.body)) == (200, {"status": "ready"})
    assert page.cache == "no-store"


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
        "limit=1&limit=2",
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


async def test_a_game_that_is_not_played_here_is_not_found(server: FakePublicServer) -> None:
    assert told(await get(server, "/api/leaderboards/freecell")) == (404, "no_such_game")


async def test_the_store_is_not_asked_for_a_page_twice_in_a_second(
    server: FakePublicServer,
) -> None:
    now = 100.0
    pages = HttpPages(server, now=lambda: now)
    first = await pages.page("GET", "/api/leaderboards/canfield", HOST)
    assert await pages.page("GET", "/api/leaderboards/canfield", HOST) == first
    await pages.page("GET", "/api/leaderboards/canfield?limit=5", HOST)
    assert [query.limit for query in server.asked] == [20, 5]
    now += http.LEADERBOARD_FRESH
    await pages.page("GET", "/api/leaderboards/canfield", HOST)
    assert [query.limit for query in server.asked] == [20, 5, 20]


async def test_only_so_many_pages_are_kept(server: FakePublicServer) -> None:
    pages = HttpPages(server, now=lambda: 0.0)
    for offset in range(http.MOST_PAGES_KEPT + 1):
        await pages.page("GET", f"/api/leaderboards/canfield?offset={offset}", HOST)
    await pages.page("GET", "/api/leaderboards/canfield?offset=0", HOST)
    assert [query.offset for query in server.asked].count(0) == 2


async def test_a_finished_race_can_be_read(server: FakePublicServer) -> None:
    page = await get(server, "/api/records/mint-otter-42/1")
    assert (page.status.value, page.body.decode()) == (200, "record of Zoë\n")
    assert page.kind == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("race", "code"),
    [
        ("mint-otter-42/2", "race_running"),
        ("mint-otter-42/3", "no_such_race"),
        ("mint-otter-42/01", "no_such_race"),
        ("MINT/1", "no_such_race"),
        ("%2e%2e/1", "no_such_race"),
        ("mint-otter-42/1%0a", "no_such_race"),
    ],
)
async def test_a_race_that_is_not_over_is_not_found(
    server: FakePublicServer, race: str, code: str
) -> None:
    assert told(await get(server, f"/api/records/{race}")) == (404, code)


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


async def test_boards_that_take_long_are_to_be_asked_for_again(
    server: FakePublicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "REPLAYED_WITHIN", 0)
    server.stalls = True
    page = await get(server, "/api/records/mint-otter-42/1/boards")
    assert told(page) == (503, "too_busy")
    assert ("Retry-After", "1") in page.more


@pytest.mark.parametrize(
    "target",
    [
        "/nothing",
        "/healthz/",
        "//healthz",
        "/api/records/mint-otter-42",
        "/api/leaderboards",
        "/%ff",
        "*",
    ],
)
async def test_without_the_page_other_paths_are_not_found(
    server: FakePublicServer, target: str
) -> None:
    assert told(await get(server, target)) == (404, "no_such_page")


@pytest.mark.parametrize("target", ["/api", "/api/nothing", "/api/records/mint-otter-42"])
async def test_programs_are_told_what_is_missing_as_json(
    server: FakePublicServer, target: str
) -> None:
    page = await HttpPages(server, WEB_FILES).page("GET", target, OWN)
    assert told(page) == (404, "no_such_page")


async def test_browsers_are_told_what_is_missing_in_a_document(server: FakePublicServer) -> None:
    for target in ("/nothing", "//healthz", "/healthz/", "/%ff", "*", "/%2e%2e/main.js"):
        page = await HttpPages(server, WEB_FILES).page("GET", target, OWN)
        assert (page.status, page.kind) == (404, "text/html; charset=utf-8"), target


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


@pytest.mark.parametrize("path", ["//healthz", "//other.example/healthz"])
async def test_a_path_with_two_slashes_names_no_host(server: FakePublicServer, path: str) -> None:
    assert (await get(server, path)).status == 404


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


async def test_a_store_that_never_answers_is_named(
    server: FakePublicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "ANSWER_WITHIN", 0)
    server.stalls = True
    assert told(await get(server, "/api/leaderboards/canfield")) == (503, "store_unavailable")


async def test_a_fault_of_the_server_shows_nothing_of_itself(
    server: FakePublicServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = KeyError("inner secrets")
    page = await get(server, "/api/leaderboards/canfield")
    assert told(page) == (500, "server_fault")
    assert b"secrets" not in page.body
    assert [record.getMessage() for record in caplog.records] == ["server_fault"]
