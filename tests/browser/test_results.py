"""The results of a race on the page: verified, explained, shared, and reviewed board by board."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

import pytest
from playwright.async_api import Page

from kit.browser_pages import PHONE, Pages, look, page_url
from kit.page_player import PagePlayer, racing, rival_at
from kit.recorded_players import RecordedPlayer
from kit.server_process import ServerProcess
from saratoga_rules.records.digest_words import digest_words

MOVES = 6
"""Fewer than any deal needs to be stuck, so that the page can always cash out."""
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
        (place,) = (row.place for row in outcome.results if row.name == "Mira")
        is_shared = sum(row.place == place for row in outcome.results) > 1
        assert ("Mira shares" if is_shared else "Mira finished") in lines[1]
        verified = f"saratoga verify {outcome.race}#{digest_words(outcome.digest)}"
        # an address of http is none of a server
        address = page_url(page_server, "", scheme="ws")
        assert lines[-1] == f"Check it: {verified} --server {address}"
        assert not any(sign in shared for sign in "\u2660\u2665\u2666\u2663")
        await page.get_by_role("button", name="Copy").click()
        await page.get_by_text("Copied.").wait_for()
        await look(page, "share")


IS_PAST: Final = "move => parseInt(document.querySelector('.scrub output').textContent, 10) > move"
"""A function that returns whether the review stands behind a move."""

UNCOVERED: Final = """lines => lines.map(line => {
    const {left, top, bottom} = line.getBoundingClientRect();
    return [top + 2, bottom - 2].every(y => document.elementFromPoint(left + 2, y) === line);
})"""
"""A function that returns whether elements can be seen whole."""


@pytest.mark.parametrize("game", ["canfield", "klondike", "lady-palk", "caprice"])
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
        assert ("face down" in one) == (game == "klondike")
        await look(page, f"review-{game}")
        for height in (360, 300):
            await page.set_viewport_size({"width": 640, "height": height})
            assert await page.locator(".next").evaluate_all(UNCOVERED) == [True, True]
        await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        await page.get_by_role("button", name="One move on").click()
        # one may have ended, or have turned the stock
        whole = "boards => boards.map(board => [...board.querySelectorAll('.pile, .next')].map(part => part.getAttribute('aria-label') || part.textContent).join())"
        one, two = await page.locator(".mini").evaluate_all(whole)
        assert one != two
        await page.keyboard.press("End")
        last = int(await page.get_by_label("Move", exact=True).get_attribute("max") or 0)
        assert await page.locator(".scrub output").inner_text() == f"{last} / {last}"
        await page.keyboard.press("f")
        assert await page.locator(".scrub output").inner_text() == f"{fork} / {last}"
        await page.get_by_role("button", name="Play").click()
        await page.wait_for_function(IS_PAST, arg=fork)
        await page.get_by_role("button", name="Pause").click()


async def test_a_draw_onto_the_columns_is_reviewed_as_one(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "caprice", finishes=False, pace=PACE) as (player, _):
        await player.answered(player.page.keyboard.press(" "))
        await player.cash_out()
        await player.seen_results()
        await player.page.get_by_role("link", name="Review").click()
        board = player.page.get_by_role("region", name="Board of You")
        await board.wait_for()
        await player.page.keyboard.press("Home")
        await board.get_by_text(": a card dealt to each column").wait_for()


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
    rule = "The earlier one is ahead."
    assert await page.evaluate(words, [tied, "b"]) == [
        "A tie at +$50.",
        f"Ana banked card 30 at 4:31.204, you at 9:36.870. {rule}",
    ]
    assert await page.evaluate(words, [tied, "a"]) == [
        "A tie at +$50.",
        f"You banked card 30 at 4:31.204, Bert at 9:36.870. {rule}",
    ]
    assert await page.evaluate(words, [TIED, "c"]) is None


BESTS: Final = """async ([results, races]) => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "results.js"));
    return races.map(([race, game, own]) => page.bestWords({race, game, player: "b", results: [{...results[1], ...own}]})?.words ?? "");
}"""


async def test_the_personal_best_of_a_game_is_the_most_banked_and_then_the_earliest(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    races = [
        ("t/1", "canfield", {}),
        ("t/1", "canfield", {}),
        ("t/2", "canfield", {"banked": 12, "net": 10, "reached": 9000}),
        ("t/3", "klondike", {"banked": 12, "net": 8, "reached": 9000}),
        ("t/4", "canfield", {"reached": 5000}),
        ("t/5", "canfield", {"reached": 5000}),
        ("t/6", "canfield", {"banked": 31, "net": 55, "reached": 8000}),
        ("t/7", "canfield", {"banked": 32, "net": 60, "reached": None}),
    ]
    former, better = "personal best: 30 banked, +$50.", "personal best: 31 banked, +$55."
    assert await page.evaluate(BESTS, [TIED, races]) == [
        *("", "", f"Your {former}", "", f"A new {former}", f"Your {former}"),
        *(f"A new {better}", f"Your {better}"),
    ]
    # it is kept for the next visit
    await page.reload()
    assert await page.evaluate(BESTS, [TIED, races[2:3]]) == [f"Your {better}"]


async def test_the_results_name_the_personal_best_once_the_record_is_checked(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "canfield", has_touch=True) as (player, _):
        best = {"canfield": {"race": "mint-otter-42/1", "banked": 52, "net": 210, "reached": 1}}
        await player.page.evaluate(
            "([key, best]) => localStorage.setItem(key, JSON.stringify(best))",
            [f"saratoga.bests.{player.notes.player}", best],
        )
        await player.cash_out()
        await player.seen_results()
        await player.page.get_by_text("Your personal best: 52 banked, +$210.").wait_for()
