"""The routes of the page: each loads without a fault, over plain http and over TLS."""

from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Route, expect

from kit.browser_pages import Pages, look, page_url, serving_pages
from kit.deployment import write_certificate
from kit.page_player import press
from kit.player_sockets import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, Start
from saratoga_protocol.events import Dealt, RaceOver

WHOLE = """async () => {
    await import(document.querySelector("script[type=module]").src.replace("main.js", "results.js"));
}"""
"""A function that waits until the last of the page's modules is loaded."""

TRIES = 3
"""How often the page asks for a module before it loads itself again."""

INCOMPLETE: Final = "withholds the part of this page that checks races"
"""Words of the sentence that says that the page cannot load a module."""


async def test_every_route_loads_in_every_size(page_server: ServerProcess, pages: Pages) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        for name, path in (
            ("lobby", "/"),
            ("table", f"/{code}"),
            ("leaderboards", "/leaderboards/canfield"),
            ("race", f"/races/{code}/1"),
        ):
            page = await pages.open(page_url(page_server, path))
            assert await page.evaluate("isSecureContext") is False
            await look(page, f"route-{name}")


@pytest.mark.parametrize(
    "path", ["/mint-otter-42", "/leaderboards/poker", "/races/mint-otter-42/1"]
)
async def test_what_does_not_exist_is_a_page_too(
    page_server: ServerProcess, pages: Pages, path: str
) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open(page_url(page_server, path))
    await look(page, f"missing-{path.split('/')[1]}")
    await page.get_by_role("link", name="See the open tables").click()
    await page.wait_for_url(page_url(page_server))


@pytest.mark.needs("openssl")
async def test_the_page_loads_over_tls(pages: Pages, tmp_path: Path) -> None:
    certificate = write_certificate(tmp_path)
    tls = ("--tls-cert", str(certificate), "--tls-key", str(tmp_path / "privkey.pem"))
    async with serving_pages(*tls) as server:
        page = await pages.open(page_url(server, scheme="https"), ignore_https_errors=True)
        assert await page.evaluate("isSecureContext") is True
        await look(page, "tls-lobby")
        await pages.close()


FIRST_LOAD: Final = 80_000
"""The most compressed bytes of the document and of all that it names, which the first screen needs."""


async def test_the_page_is_loaded_by_few_and_small_requests_and_then_kept(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    loaded = "performance.getEntriesByType('resource').map(each => [each.name, each.transferSize])"
    await page.evaluate(WHOLE)
    first = dict(await page.evaluate(loaded))
    # the icon, the style, and all modules
    assert 0 < len(first) <= 17
    assert all(size > 0 for size in first.values())
    named = await page.evaluate(
        "[...document.querySelectorAll('link, script[src]')].map(each => each.href || each.src)"
    )
    document = await page.evaluate("performance.getEntriesByType('navigation')[0].transferSize")
    assert len(set(named)) == 14
    assert document + sum(first[name] for name in set(named) if name in first) <= FIRST_LOAD
    await page.reload()
    await page.evaluate(WHOLE)
    assert set(dict(await page.evaluate(loaded)).values()) == {0}


async def test_a_page_whose_last_modules_were_replaced_meanwhile_loads_again(
    page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open("about:blank")
    asked = []

    async def gone(route: Route) -> None:
        # the first document's files are gone, as after an upgrade
        asked.append(route.request.url)
        is_gone = len(asked) <= TRIES
        await (route.fulfill(status=404) if is_gone else route.continue_())

    await page.route("**/witness.js", gone)
    async with page.expect_response("**/results.js"):
        await page.goto(page_url(page_server))
    assert len(asked) == TRIES + 1
    (navigation,) = await page.evaluate(
        "performance.getEntriesByType('navigation').map(each => each.type)"
    )
    assert navigation == "reload"


async def test_a_page_whose_last_modules_are_withheld_for_ever_loads_again_only_once(
    page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open("about:blank")
    asked = []

    async def withheld(route: Route) -> None:
        asked.append(route.request.url)
        await route.fulfill(status=404)

    await page.route("**/results.js", withheld)
    await page.goto(page_url(page_server))
    await page.get_by_role("status").filter(has_text=INCOMPLETE).wait_for()
    assert len(asked) == 2 * TRIES
    await look(page, "incomplete-lobby")

    # what needs the module says so too
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        await anna.ready()
        await anna.ask(Start, table=code)
        await anna.reveal()
        await anna.expect(Dealt)
        await anna.cash_out()
        await anna.expect(RaceOver)
        await page.get_by_label("Code or link of the table").fill(code)
        await press(page, "Only watch").click()
        await expect(page.get_by_role("heading", name="This page is incomplete.")).to_be_focused()
        await look(page, "incomplete")
        assert len(asked) == 2 * TRIES
        await page.unroute("**/results.js")
        await page.get_by_role("link", name="Load the page again").click()
        await page.get_by_role("table", name="Results").wait_for()
