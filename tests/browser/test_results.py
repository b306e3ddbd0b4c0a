"""The results of a race on the page: verified, explained, shared, and reviewed board by board."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

import pytest
from playwright.async_api import Page

from kit.browser_pages import PHONE, Pages, look, page_url
from kit.page_player import PagePlayer, rival_at
from kit.recorded_players import RecordedPlayer
from kit.server_process import ServerProcess
from saratoga_rules.records.digest_words import digest_words

MOVES = 12
PACE = 40


@asynccontextmanager
async def finished(
    server: ServerProcess, pages: Pages, game: str = "canfield"
) -> AsyncIterator[tuple[PagePlayer, RecordedPlayer]]:
    """Race on the page against a bot until the results are shown."""
    async with rival_at(server, game) as rival, asyncio.TaskGroup() as group:
        rivals_race = group.create_task(rival.race(1, PACE, 2))
        page = await pages.open("about:blank", PHONE, has_touch=True, reduced_motion="reduce")
        player = PagePlayer(page, game, chance=Random(3))
        await page.goto(page_url(server, f"/{rival.notes.code}"))
        await player.sit_down("Mira")
        await player.get_ready()
        await player.dealt()
        await player.race(player.tap_move, MOVES)
        await player.cash_out()
        await player.seen_results()
        await rivals_race
        yield player, rival


async def alarms(page: Page) -> str:
    said: str = await page.locator(".alarms").inner_text()
    return said


async def test_the_results_are_checked_against_what_the_page_saw(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with finished(page_server, pages) as (player, _):
        page = player.page
        seal = page.locator(".seal")
        await seal.get_by_text("witnessed here").wait_for()
        said = await seal.inner_text()
        for part in ("commitment", "nonces", "deal", "moves", "boards", "standings", "result"):
            assert part in said.split("as this page saw it: ")[1].split("\n")[0]
        (outcome,) = player.notes.outcomes.values()
        assert digest_words(outcome.digest) in said
        assert "saratoga verify" in said
        assert await alarms(page) == ""
        await look(page, "results")


async def test_the_result_is_shared_without_a_clipboard(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with finished(page_server, pages) as (player, _):
        page = player.page
        assert await page.evaluate("navigator.clipboard === undefined")
        await page.get_by_role("button", name="Share").click()
        shared = await page.get_by_label("Text to share").input_value()
        (outcome,) = player.notes.outcomes.values()
        lines = shared.split("\n")
        assert lines[0] == f"Saratoga, Canfield, race {outcome.race}"
        assert "Mira finished" in lines[1]
        assert f"saratoga verify {outcome.race}#{digest_words(outcome.digest)}" in lines[-1]
        assert not any(sign in shared for sign in "\u2660\u2665\u2666\u2663")
        await page.get_by_role("button", name="Copy").click()
        await page.get_by_text("Copied.").wait_for()
        await look(page, "share")


@pytest.mark.parametrize("game", ["canfield", "lady-palk", "caprice"])
async def test_a_race_is_reviewed_board_by_board(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    async with finished(page_server, pages, game) as (player, _):
        page = player.page
        await page.get_by_role("link", name="Review").click()
        await page.get_by_role("heading", name="Where you parted").wait_for()
        assert await page.locator(".mini").count() == 2
        fork = int(await page.get_by_label("Move", exact=True).input_value())
        tops = "boards => boards.map(board => [...board.querySelectorAll('.cols .pile, .found .pile')].map(pile => pile.getAttribute('aria-label')).join())"
        one, two = await page.locator(".mini").evaluate_all(tops)
        assert one == two, "at the fork both boards are the same"
        await look(page, f"review-{game}")
        await page.get_by_role("button", name="One move on").click()
        one, two = await page.locator(".mini").evaluate_all(tops)
        assert one != two or game == "caprice"
        await page.keyboard.press("End")
        last = int(await page.get_by_label("Move", exact=True).get_attribute("max") or 0)
        assert await page.locator(".scrub output").inner_text() == f"{last} / {last}"
        await page.keyboard.press("f")
        assert await page.locator(".scrub output").inner_text() == f"{fork} / {last}"
        await page.get_by_role("button", name="Play").click()
        await page.get_by_text(f"{fork + 1} / {last}").wait_for()
        await page.get_by_role("button", name="Pause").click()


async def test_anyone_can_open_a_finished_race(page_server: ServerProcess, pages: Pages) -> None:
    async with finished(page_server, pages) as (player, _):
        race = player.board.race
        page = await pages.open(page_url(page_server, f"/races/{race}"))
        await page.get_by_role("heading", name="Where they parted").wait_for()
        assert "self-consistent only" in await page.locator(".seal").inner_text()
        assert "Mira" in await page.get_by_role("table", name="Results").inner_text()
        await look(page, "race-of-others")


TIED: Final = [
    {"player": "a", "name": "Ana", "place": 1, "banked": 30, "net": 50, "reached": 271204},
    {"player": "b", "name": "Bert", "place": 2, "banked": 30, "net": 50, "reached": 576870},
    {"player": "c", "name": "Cleo", "place": 3, "banked": 9, "net": -55, "reached": 1000},
]


async def test_a_tie_is_explained_with_both_times(page_server: ServerProcess, pages: Pages) -> None:
    page = await pages.open(page_url(page_server))
    words = """async ([results, player]) => {
        const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "results.js"));
        return page.tieWords({results, player});
    }"""
    tied = [{**row, "tie": "later" if row["player"] == "b" else ""} for row in TIED]
    rule = "Whoever gets there first is ahead."
    assert await page.evaluate(words, [tied, "b"]) == [
        "A tie at +$50.",
        f"Ana banked card 30 at 4:31.204, you at 9:36.870. {rule}",
    ]
    assert await page.evaluate(words, [tied, "a"]) == [
        "A tie at +$50.",
        f"You banked card 30 at 4:31.204, Bert at 9:36.870. {rule}",
    ]
    assert await page.evaluate(words, [TIED, "c"]) is None
