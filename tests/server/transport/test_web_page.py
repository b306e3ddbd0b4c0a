"""The page over HTTP: its routes, its files, and the headers that restrict it."""

import re

import pytest

from kit.web_pages import SCRIPT, SMALL, WEB_FILES, asking, tag_of
from saratoga_server.ports import StoreUnavailable
from saratoga_server.transport.http_responses import Page
from saratoga_server.transport.web_page import WebPage

STATIC = ["static", WEB_FILES.version]
CODE = "mint-otter-42"


class FakeServer:
    """A server with one table, which has gathered two races."""

    def __init__(self) -> None:
        self.fault: Exception | None = None

    async def has_table(self, code: str) -> bool:
        if self.fault is not None:
            raise self.fault
        return code == CODE

    async def has_race(self, race: str) -> bool:
        return race in (f"{CODE}/1", f"{CODE}/2")


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


async def got(server: FakeServer, *segments: str, tls: bool = False, **headers: str) -> Page:
    page = WebPage(WEB_FILES, server, tls)
    return await page.found(list(segments), asking(**headers))


@pytest.mark.parametrize(
    "path", ["", CODE, "leaderboards/canfield", f"races/{CODE}/1", f"races/{CODE}/2"]
)
async def test_every_route_of_the_page_answers_the_same_document(
    server: FakeServer, path: str
) -> None:
    page = await got(server, *path.split("/"))
    assert (page.status, page.body) == (200, WEB_FILES.index.body)
    assert page.kind == "text/html; charset=utf-8"
    assert page.cache == "no-cache"
    assert ("ETag", tag_of(WEB_FILES.index)) in page.more


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
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


async def test_a_query_follows_to_the_right_path(server: FakeServer) -> None:
    page = WebPage(WEB_FILES, server, is_tls=False)
    found = await page.found(["leaderboards", "canfield", ""], asking(), "period=week&bots=1")
    assert found.more == (("Location", "/leaderboards/canfield?period=week&bots=1"),)


async def test_without_the_store_the_page_itself_says_so(server: FakeServer) -> None:
    server.fault = StoreUnavailable()
    assert (await got(server, CODE)).status == 200


async def test_a_file_is_kept_by_browsers_for_ever(server: FakeServer) -> None:
    page = await got(server, *STATIC, "main.js")
    assert (page.status, page.body, page.kind) == (200, SCRIPT.body, SCRIPT.kind)
    assert page.cache == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("name", ["index.html", "../main.js", "%2e%2e", "", "main.js/"])
async def test_only_the_files_of_the_page_are_served(server: FakeServer, name: str) -> None:
    assert (await got(server, *STATIC, *name.split("/"))).status == 404


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "deflate,GZIP", "br , gzip"])
async def test_a_browser_that_reads_gzip_gets_it(server: FakeServer, accepted: str) -> None:
    page = await got(server, *STATIC, "main.js", accept_encoding=accepted)
    assert page.body == SCRIPT.compressed
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


async def test_a_file_that_gzip_makes_larger_is_sent_as_it_is(server: FakeServer) -> None:
    page = await got(server, *STATIC, "page.css", accept_encoding="gzip")
    assert page.body == SMALL.body


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
    policy = dict(each.split(" ", 1) for each in rules["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    sources = {source for value in policy.values() for source in value.split()}
    assert sources == {"'none'", "'self'", "'script'"}
    assert rules["X-Content-Type-Options"] == "nosniff"
    assert rules["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in rules


async def test_isolation_is_asked_for_over_tls_only(server: FakeServer) -> None:
    plain, tls = await got(server, ""), await got(server, "", tls=True)
    assert "Cross-Origin-Opener-Policy" not in dict(plain.rules)
    assert dict(tls.rules)["Cross-Origin-Opener-Policy"] == "same-origin"


async def test_the_small_page_has_no_inline_style_or_script(server: FakeServer) -> None:
    text = (await got(server, "no-such-99")).body.decode()
    assert re.search(r"<script|<style|style=|\son\w+=", text) is None
    assert f'href="/static/{WEB_FILES.version}/page.css"' in text
