"""The screens of a race in every size and theme: nothing sticks out, axe finds nothing; pictures to look at."""

import pytest
from playwright.async_api import Page

from kit.browser_pages import Pages, check_accessible, look, take_screenshot
from kit.page_player import PagePlayer, racing
from kit.server_process import ServerProcess
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
    async with racing(page_server, pages, "canfield", has_touch=True, pace=2, finishes=False) as (
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
