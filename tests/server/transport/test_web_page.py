"""The page over HTTP: its files, its routes, the facts and the image in it, and the headers that restrict it."""

import json
import re
from datetime import date
from pathlib import Path

import msgspec
import pytest
from websockets.datastructures import Headers

from kit.gateways import SCRIPT, WEB_FILES, asking, tag_of
from kit.tables import ANN, BEN, seated
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.records.digest_words import WORDS
from saratoga_server.domain.open_races import OpenState, challenge, day_race
from saratoga_server.domain.tables import TableState
from saratoga_server.node import Node
from saratoga_server.ports import Millis, StoreUnavailable
from saratoga_server.transport.hosts import Hosts, link_to
from saratoga_server.transport.http_responses import Page
from saratoga_server.transport.web_files import (
    WebFile,
    game_facts,
    load_web_files,
    web_folder,
    without_comments,
)
from saratoga_server.transport.web_page import WebPage

# The page over HTTP: its routes, its files, and the headers that restrict it


STATIC = ["static", WEB_FILES.version]
CODE = "mint-otter-42"
DAY_RACE = day_race("canfield", date(2026, 11, 28), bytes(32), Millis(0))
CHALLENGE = challenge("a" * 16, "canfield", bytes(32), ANN, "Ann", Millis(0))


class FakeServer(Node):
    """A server with one table, which has gathered two races."""

    def __init__(self) -> None:
        self.fault: Exception | None = None

        self.host = "Ann"

    async def table(self, code: str) -> TableState | None:
        if self.fault is not None:
            raise self.fault
        host, *others = seated(ANN, BEN).seats
        host = msgspec.structs.replace(host, name=self.host)
        shown = msgspec.structs.replace(seated(ANN, BEN), seats=(host, *others))
        return shown if code == CODE else None

    async def has_race(self, race: str) -> bool:
        return race in (f"{CODE}/1", f"{CODE}/2")

    async def open_race(self, race: str) -> OpenState | None:
        known = {DAY_RACE.id: DAY_RACE, CHALLENGE.id: CHALLENGE}
        return known.get(race)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


async def got(server: FakeServer, *segments: str, tls: bool = False, **headers: str) -> Page:
    page = WebPage(WEB_FILES, server, tls)
    return await page.found(list(segments), asking(**headers))


@pytest.mark.parametrize(
    "path", ["", "leaderboards/canfield", f"races/{CODE}/1", f"races/{CODE}/2"]
)
async def test_every_route_of_the_page_answers_the_same_document(
    server: FakeServer, path: str
) -> None:
    page = await got(server, *path.split("/"))
    assert (page.status, page.body) == (200, WEB_FILES.index.body)
    assert page.kind == "text/html; charset=utf-8"
    assert page.cache == "no-cache"
    assert ("ETag", tag_of(WEB_FILES.index)) in page.more


async def test_a_tables_link_says_whose_it_is_and_which_game_and_nothing_else(
    server: FakeServer,
) -> None:
    server.host = '"><script>'
    page = await got(server, CODE)
    added = page.body.decode().replace(WEB_FILES.index.body.decode().partition("</head>")[0], "")
    assert added.splitlines()[:-1] == [
        '<meta property="og:site_name" content="Saratoga" />',
        '<meta property="og:title" content="&quot;&gt;&lt;script&gt; wants to race you" />',
        '<meta property="og:description" content="Canfield, 10 minutes, the same cards for everybody." />',
    ]
    assert page.cache == "no-cache"
    assert ("ETag", tag_of(WEB_FILES.index)) not in page.more


@pytest.mark.parametrize(
    ("path", "title"),
    [
        (DAY_RACE.id, "Canfield: the deal of 2026-11-28"),
        (f"c/{CHALLENGE.id}", "Ann challenges you"),
    ],
)
async def test_an_open_races_link_says_what_it_is(
    server: FakeServer, path: str, title: str
) -> None:
    page = await got(server, *path.split("/"))
    assert page.status == 200
    assert f'<meta property="og:title" content="{title}" />' in page.body.decode()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("day/canfield/2026-11-29", "There is no such deal."),
        ("day/canfield/today", "There is no such deal."),
        ("c/aaaaaaaaaaaaaaab", "There is no such deal."),
        ("mint-otter-43", "There is no such table."),
        ("leaderboards/poker", "There is no such game."),
        ("leaderboards", "There is no such page."),
        ("leaderboards/canfield/day", "There is no such page."),
        (f"races/{CODE}/3", "There is no such race."),
        (f"races/{CODE}/01", "There is no such race."),
        (f"races/{CODE}", "There is no such page."),
        ("static/main.js", "There is no such page."),
        ("static/0123/main.js", "There is no such page."),
        ("<script>alert(1)</script>", "There is no such page."),
    ],
)
async def test_what_does_not_exist_is_not_found_with_a_small_plain_page(
    server: FakeServer, path: str, sentence: str
) -> None:
    page = await got(server, *path.split("/"))
    text = page.body.decode()
    assert (page.status, page.kind, page.cache) == (404, "text/html; charset=utf-8", "no-store")
    assert f"<h1>{sentence.rstrip('.')}</h1>" in text
    assert "script" not in text
    assert '<html lang="en">' in text
    assert '<a href="/">' in text
    assert len(page.body) < 1000


@pytest.mark.parametrize(
    ("path", "right"),
    [
        (f"{CODE}/", f"/{CODE}"),
        ("Mint-Otter-42", f"/{CODE}"),
        (f"/{CODE}", f"/{CODE}"),
        (f"races/{CODE}/2/", f"/races/{CODE}/2"),
        ("Leaderboards/Canfield", "/leaderboards/canfield"),
    ],
)
async def test_a_path_with_capitals_or_slashes_too_many_leads_to_the_right_one(
    server: FakeServer, path: str, right: str
) -> None:
    page = await got(server, *path.split("/"))
    assert (page.status, page.body) == (302, b"")
    assert page.more == (("Location", right),)
    assert page.cache == "no-store"


async def test_without_the_store_the_page_itself_says_so(server: FakeServer) -> None:
    server.fault = StoreUnavailable()
    assert (await got(server, CODE)).status == 200


@pytest.mark.parametrize("name", ["index.html", "../main.js", "%2e%2e", "", "main.js/"])
async def test_only_the_files_of_the_page_are_served(server: FakeServer, name: str) -> None:
    assert (await got(server, *STATIC, *name.split("/"))).status == 404


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "deflate,GZIP", "br , gzip"])
async def test_a_browser_that_reads_gzip_gets_it(server: FakeServer, accepted: str) -> None:
    page = await got(server, *STATIC, "main.js", accept_encoding=accepted)
    assert (page.body, page.cache) == (SCRIPT.compressed, "public, max-age=31536000, immutable")
    assert ("Content-Encoding", "gzip") in page.more
    assert ("Vary", "Accept-Encoding") in page.more
    assert ("ETag", tag_of(SCRIPT, compressed=True)) in page.more


@pytest.mark.parametrize(
    "accepted",
    ["", "br", "identity", "gzip;q=0", "gzip; q=0", "gzip;q=0.000", "gzip;Q=0.", "x-gzipped"],
)
async def test_another_client_gets_the_file_itself(server: FakeServer, accepted: str) -> None:
    page = await got(server, *STATIC, "main.js", accept_encoding=accepted)
    assert page.body == SCRIPT.body
    assert "Content-Encoding" not in dict(page.more)


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}'])
async def test_what_a_browser_has_is_not_sent_again(server: FakeServer, form: str) -> None:
    known = form.format(tag_of(SCRIPT, compressed=True))
    page = await got(server, *STATIC, "main.js", accept_encoding="gzip", if_none_match=known)
    assert (page.status, page.body) == (304, b"")
    assert ("ETag", tag_of(SCRIPT, compressed=True)) in page.more
    page = await got(server, *STATIC, "main.js", if_none_match=known)
    assert (page.status, page.body) == (200, SCRIPT.body)


@pytest.mark.parametrize("path", ["", "no-such-99", "static/x/y", "/".join([*STATIC, "main.js"])])
async def test_every_answer_allows_only_what_comes_from_this_server(
    server: FakeServer, path: str
) -> None:
    rules = dict((await got(server, *path.split("/"))).rules)
    assert rules["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
        "'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
        "'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert rules["X-Content-Type-Options"] == "nosniff"
    assert rules["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in rules


# The files of the page, read once when the server starts


INDEX = '<link href="/static/page.css"><script src="/static/main.js"></script>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "main.js").write_text("import './parts/board.js';\n" * 100)
    (tmp_path / "page.css").write_text("body{}")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "board.js").write_text("export {};")
    (tmp_path / "notes.md").write_text("not for players")
    (tmp_path / ".hidden.js").write_text("not for players")
    return tmp_path


def test_files_that_browsers_need_are_read_and_others_are_not(folder: Path) -> None:
    web = load_web_files(folder)
    assert web is not None
    assert set(web.files) == {"main.js", "page.css", "parts/board.js"}
    assert web.files["main.js"].kind == "text/javascript; charset=utf-8"
    assert web.files["page.css"].kind == "text/css; charset=utf-8"
    assert web.index.kind == "text/html; charset=utf-8"


def test_the_index_names_its_files_in_the_folder_with_their_hash(folder: Path) -> None:
    web = load_web_files(folder)
    assert web is not None
    assert web.index.body.decode() == INDEX.replace("/static/", f"/static/{web.version}/")


def test_the_index_has_the_facts_of_the_games() -> None:
    web = load_web_files(web_folder())
    assert web is not None
    assert b'id="facts">' + game_facts() + b"</script>" in web.index.body


def test_the_folder_is_named_anew_whenever_a_file_changes_or_is_renamed(folder: Path) -> None:
    names = []
    for change in (
        lambda: None,
        lambda: (folder / "main.js").write_text("export {};"),
        lambda: (folder / "page.css").rename(folder / "look.css"),
    ):
        change()
        web = load_web_files(folder)
        assert web is not None
        names.append(web.version)
    assert len(set(names)) == 3
    again = load_web_files(folder)
    assert again is not None
    assert again.version == names[-1]


@pytest.fixture
def first_load() -> dict[str, WebFile]:
    """The modules of this checkout's page that load with it: all that `main.js` imports, and their imports."""
    web = load_web_files(web_folder())
    assert web is not None
    found, named = {}, ["main.js"]
    while named:
        name = named.pop()
        if name not in found:
            found[name] = web.files[name]
            named += re.findall(r'\bfrom "\./([^"]+)"', web.files[name].body.decode())
    return found


def test_the_first_load_is_small_and_of_few_requests(first_load: dict[str, WebFile]) -> None:
    web = load_web_files(web_folder())
    assert web is not None
    files = [web.index, web.files["page.css"], web.files["icon.svg"], *first_load.values()]
    assert sum(len(file.compressed or file.body) for file in files) <= 80 * 1024
    assert len(files) <= 20


def test_every_module_is_named_for_the_browser_to_load_at_once(
    first_load: dict[str, WebFile],
) -> None:
    web = load_web_files(web_folder())
    assert web is not None
    named = re.findall(r'rel="modulepreload" href="/static/\w+/([^"]+)"', web.index.body.decode())
    assert sorted(named) == sorted(first_load)


def test_no_script_has_a_text_over_several_lines_whose_indents_would_be_left_out() -> None:
    folder = web_folder()
    assert folder is not None
    for script in folder.glob("*.js"):
        for line in without_comments(script.read_text(encoding="utf-8")).splitlines():
            assert line.count("`") % 2 == 0, (script.name, line)


def test_comments_are_left_out_and_every_line_keeps_its_number() -> None:
    script = """/** What it is for. */
const link = "http://localhost"; // beside code it stays
/* long
 * comment */ const kept = 1;
    // alone
  /**
   * Of two
   */
const pattern = /\\/\\*x/;
"""
    lines = script.split("\n")
    assert without_comments(script).split("\n") == ["", *lines[1:4], "", "", "", "", *lines[8:]]


@pytest.mark.parametrize("place", ["server/saratoga_server/web", "client/web"])
def test_the_page_is_found_in_a_wheel_and_in_a_checkout(tmp_path: Path, place: str) -> None:
    package = tmp_path / "server" / "saratoga_server"
    assert web_folder(package) is None
    (tmp_path / place).mkdir(parents=True)
    assert web_folder(package) is None
    (tmp_path / place / "index.html").write_text(INDEX)
    assert web_folder(package) == tmp_path / place


# What the page knows of each game


def test_every_game_has_its_facts_in_the_order_of_the_games() -> None:
    told = json.loads(game_facts())
    assert told["words"].split() == list(WORDS)
    assert list(told["games"]) == list(GAMES)
    for game in GAMES.values():
        facts = told["games"][game.name]
        assert facts["title"] == game.title
        assert told["prize"] * 10 - facts["price"] == net(game, 10)


# The link to a table as a QR code


LINK = "http://192.168.1.7:7470/mint-otter-42"
ASKED = Headers([("Host", "192.168.1.7:7470")])


@pytest.mark.parametrize(
    ("hosts", "link"),
    [
        (Hosts(), LINK),
        (Hosts(is_tls=True), LINK.replace("http", "https")),
        (Hosts(origins=("https://192.168.1.7:7470",)), LINK.replace("http", "https")),
        (Hosts(origins=("https://cards.example.org",)), LINK),
        (Hosts(public_url="wss://cards.example.org"), "https://cards.example.org/mint-otter-42"),
        (
            Hosts(public_url="ws://cards.example.org:81/"),
            "http://cards.example.org:81/mint-otter-42",
        ),
        (
            Hosts(public_url="https://cards.example.org/a"),
            "https://cards.example.org/a/mint-otter-42",
        ),
    ],
)
def test_the_link_is_public_or_as_the_browser_came(hosts: Hosts, link: str) -> None:
    assert link_to("mint-otter-42", hosts, ASKED) == link
