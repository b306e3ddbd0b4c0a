"""The screens of a race in every size and theme: nothing sticks out, axe finds nothing; pictures to look at."""

import re
from itertools import pairwise
from typing import Final

import pytest
from playwright.async_api import Page, Route

from kit.browser_pages import Pages, check_accessible, look, page_url, take_screenshot
from kit.page_player import PagePlayer, racing
from kit.player_sockets import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable
from saratoga_rules.games import GAMES

THEMES = ("felt", "paper", "contrast")


async def choose_theme(page: Page, theme: str) -> None:
    await page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)


@pytest.mark.parametrize("game", GAMES)
async def test_the_race_fits_every_size(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    async with racing(page_server, pages, game, has_touch=True) as (player, _):
        await player.race(player.tap_move, 20)
        await pick_something(player)
        await look(player.page, f"race-{game}")
        for theme in THEMES:
            await choose_theme(player.page, theme)
            await check_accessible(player.page)
            await take_screenshot(player.page, f"race-{game}-{theme}")


async def pick_something(player: PagePlayer) -> None:
    """Pick a pile whose targets light up, if there is one."""
    sources = [move.partition(">")[0] for move in player.board.legal or [] if ">" in move]
    if sources:
        await player.tap(sources[-1])
        await player.page.locator(".pile.lit").first.wait_for()


async def test_the_sheets_of_a_race_fit_every_size(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "canfield", has_touch=True, pace=0.1, finishes=False) as (
        player,
        _,
    ):
        page = player.page
        await page.get_by_role("button", name="Standings and menu").click()
        await look(page, "sheet-menu")
        await page.get_by_role("button", name="Look, rules").click()
        await look(page, "sheet-look")
        await page.get_by_role("button", name="Back").click()
        await page.keyboard.press("x")
        await look(page, "sheet-cash-out")
        await page.get_by_role("button", name="Cash out").last.click()
        await page.get_by_role("button", name="See my board").wait_for()
        await look(page, "sheet-ended")
        await page.get_by_role("button", name="Watch the race").last.click()
        await page.locator(".lanes").wait_for()
        await look(page, "watch")


RACING: Final = """async count => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "race.js"));
    const standings = Array.from({length: count}, (_, at) => ({player: `${at}`, place: 1, banked: 1, net: -45, state: "racing"}));
    const labels = Object.fromEntries(standings.map(({player}) => [player, {name: `Racer ${player}`, bot: false, level: ""}]));
    const state = {player: `${count - 1}`, standings, labels, outcome: null, own: null, history: {},
        table: {phase: "running", host: "0", last_racer: "1", end_from: 60_200}};
"""
"""The beginning of a function with the module `race.js` as `page` and the `state` of a race at its first moment."""


@pytest.mark.parametrize("count", [2, 7, 16])
async def test_the_chart_names_every_line_though_all_are_level(
    page_server: ServerProcess, pages: Pages, count: int
) -> None:
    page = await pages.open(page_url(page_server))
    drawn, places = await page.evaluate(
        RACING
        + """const chart = page.climbChart(state, 0, 300, 104);
        const texts = [...chart.querySelectorAll("text[x='241']")];
        return [texts.map(text => text.textContent), texts.map(text => Number(text.getAttribute("y")))];
    }""",
        count,
    )
    assert drawn[-1] == "You 1"
    assert len(drawn) == min(count, 7)
    assert min(places) >= 12
    assert max(places) <= 96
    assert all(below - above >= 12 for above, below in pairwise(places))


async def test_the_last_board_may_be_ended_in_at_most_a_minute(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    said = RACING + "return [0, 199, 201, 60_200].map(now => page.lastBoard(state, now)); }"
    waits = [
        f"Only you are still racing; Racer 0 can end the race {when}."
        for when in ("in 60 s", "in 60 s", "in 60 s", "now")
    ]
    assert await page.evaluate(said, 2) == waits


async def test_cards_can_be_read_in_the_systems_dark_high_contrast(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "klondike", pace=2, finishes=False) as (player, _):
        page = player.page
        await page.emulate_media(forced_colors="active", color_scheme="dark")
        ink, face = await page.locator(".pile .card:not(.back)").first.evaluate(
            "card => [getComputedStyle(card).color, getComputedStyle(card, '::before').backgroundColor]"
        )
        dark, light = ([int(part) for part in re.findall(r"[0-9]+", it)] for it in (ink, face))
        assert min(dark) < 100
        assert min(light) > 200
        await take_screenshot(page, "race-forced-colours")


async def test_a_browser_without_the_newest_colours_shows_sheets_and_targets(
    page_server: ServerProcess, pages: Pages
) -> None:
    def older(style: str) -> str:
        return style.replace("light-dark(", "not-yet-known(")

    async def answer(route: Route) -> None:
        fetched = await route.fetch()
        await route.fulfill(response=fetched, body=older(await fetched.text()))

    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="klondike")).table.code
        page = await pages.open("about:blank")
        await page.route("**/page.css", answer)
        await page.goto(page_url(page_server, f"/{code}"))
        await page.get_by_label("Your name at this table").fill("Mira")
        await page.get_by_role("button", name="Sit down").click()
        await page.get_by_role("button", name="Leave the table").click()
        await check_accessible(page)
        see_through = "rgba(0, 0, 0, 0)"
        for part in (page.locator("dialog"), page.locator("body")):
            assert (
                await part.evaluate("each => getComputedStyle(each).backgroundColor") != see_through
            )
        await take_screenshot(page, "older-browser")
