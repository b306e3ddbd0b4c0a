"""The results of a race on the page: verified, explained, shared, reviewed board by board; and the leaderboards."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Final

import pytest
from playwright.async_api import Page, WebSocket, expect

from kit.browser_pages import DESKTOP, PHONE, SHOWN_WITHIN, Pages, check_accessible, look, page_url
from kit.page_player import PagePlayer, press, rival_at
from kit.players import Player, player_at
from kit.server_process import ServerProcess
from saratoga_client.wording import ordinal
from saratoga_protocol.commands import CreateTable, JoinTable, NextRace, Start
from saratoga_protocol.events import BoardChanged, RaceOver, Reacted
from saratoga_rules.records.digest_words import digest_words

MOVES = 6
"""Fewer than any deal needs to be stuck, so that the page can always cash out."""
PACE = 40


@asynccontextmanager
async def finished(
    server: ServerProcess, pages: Pages, game: str = "canfield"
) -> AsyncIterator[PagePlayer]:
    """Race on the page against a bot until the results are shown."""
    async with rival_at(server, game) as rival, asyncio.TaskGroup() as group:
        rivals_race = group.create_task(rival.race(1, PACE, 2))
        page = await pages.open("about:blank", PHONE, has_touch=True, reduced_motion="reduce")
        player = PagePlayer(page, game, chance=Random(3))
        await page.goto(page_url(server, f"/{rival.notes.code}"))
        await player.sit_down("Mira")
        await player.get_ready()
        await player.dealt()
        await player.answered(player.tap("stock"))
        await player.race(player.tap_move, MOVES - 1)
        await player.cash_out()
        await player.seen_results()
        await rivals_race
        yield player


async def alarms(page: Page) -> str:
    said: str = await page.locator(".alarms").inner_text()
    return said


async def test_the_results_are_checked_shared_and_open_to_anyone(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with finished(page_server, pages) as player:
        page = player.page
        seal = page.locator(".seal")
        await seal.get_by_text("Fair deal.").wait_for()
        await seal.get_by_text("How?").click()
        said = await seal.inner_text()
        for part in ("the cards that you were dealt", "Your moves", "that the server announced"):
            assert part in said
        (outcome,) = player.notes.outcomes.values()
        assert digest_words(outcome.digest) in said
        (own,) = (row for row in outcome.results if row.player == player.notes.player)
        assert "saratoga verify" in said
        assert await alarms(page) == ""
        par = page.get_by_text(
            re.compile(
                "could have banked (at least [0-9]+. That is a lower bound|all of its cards)"
            )
        )
        await expect(par).to_be_visible()
        await look(page, "results-checked")
        # three lines, without a clipboard
        assert await page.evaluate("navigator.share === navigator.clipboard")  # neither is there
        result, strip, link = (await page.locator(".postcard").inner_text()).split("\n")
        place = f"{ordinal(own.place)} of 2, {own.banked} "
        assert result.startswith(f"Saratoga, Canfield: Mira {place}")
        assert re.fullmatch("[\u2581-\u2588]{10}", strip)
        assert link == page_url(page_server, f"/races/{outcome.race}")
        await press(page, "Share").click()
        await expect(page.get_by_text("Copied.", exact=True)).to_be_visible()
        # a page that comes late has the climb from the record
        await page.reload()
        climb = page.locator(".chart path.me")
        await expect(climb).to_have_attribute("d", re.compile("^M24 "))

        other = await pages.open(link)
        await other.get_by_role("heading", name="Where they parted").wait_for()
        await other.locator(".seal").get_by_text("Fair deal.").wait_for()
        assert "Your moves" not in await other.locator(".seal").text_content()
        assert "Mira" in await other.get_by_role("table", name="Results").inner_text()
        await look(other, "race-of-others")


async def race_with_a_page(page_server: ServerProcess, pages: Pages, anna: Player) -> PagePlayer:
    """Race Anna against Mira on a page, who sees the results; both cash out at once."""
    code = (await anna.at_table(CreateTable, game="canfield")).table.code
    mira = PagePlayer(await pages.open("about:blank"), "canfield")
    await mira.page.goto(page_url(page_server, f"/{code}"))
    await mira.sit_down("Mira")
    await mira.get_ready()
    await expect(mira.page.locator(".seats .ready")).to_have_count(1)
    await start(anna)
    await mira.dealt()
    await anna.cash_out()
    await mira.cash_out()
    await mira.seen_results()
    return mira


async def test_a_guest_asks_for_the_next_race_and_is_in_it_as_soon_as_it_is_open(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        mira = await race_with_a_page(page_server, pages, anna)
        code = anna.table.code
        async with player_at(page_server.url, "Zoe") as zoe:
            await zoe.at_table(JoinTable, table=code)
            await expect(mira.page.get_by_text("Zoe sat down.")).to_be_visible()
        await mira.page.keyboard.press("Enter")
        await expect(mira.page.get_by_text("You are in for the next race.")).to_be_visible()
        assert (await anna.expect(Reacted)).reaction == "again"
        await anna.ask(NextRace, table=code, race=anna.table.race)
        await expect(press(mira.page, "Not ready")).to_be_visible()


IS_PAST: Final = "move => parseInt(document.querySelector('.scrub output').textContent, 10) > move"
"""A function that returns whether the review stands behind a move."""

UNCOVERED: Final = """lines => lines.map(line => {
    const {left, top, bottom} = line.getBoundingClientRect();
    return [top + 2, bottom - 2].every(y => document.elementFromPoint(left + 2, y) === line);
})"""
"""A function that returns whether elements can be seen whole."""


@pytest.mark.parametrize(
    ("game", "drawn"), [("klondike", "3 cards from the stock"), ("caprice", "a card dealt to each")]
)
async def test_a_race_is_reviewed_board_by_board(
    page_server: ServerProcess, pages: Pages, game: str, drawn: str
) -> None:
    async with finished(page_server, pages, game) as player:
        page = player.page
        await page.get_by_role("link", name="See all boards").click()
        await page.get_by_role("heading", name="Where you parted").wait_for()
        assert await page.locator(".mini").count() == 2
        fork = int(await page.get_by_label("Move", exact=True).input_value())
        tops = "boards => boards.map(board => [...board.querySelectorAll('.cols .pile, .found .pile')].map(pile => pile.getAttribute('aria-label')).join())"
        one, two = await page.locator(".mini").evaluate_all(tops)
        assert one == two, "at the fork both boards are the same"
        assert ("face down" in one) == (game == "klondike")
        if game == "klondike":
            await look(page, "review-klondike")
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
        await page.keyboard.press("Home")
        await page.get_by_role("region", name="Board of You").get_by_text(f": {drawn}").wait_for()


async def start(host: Player, *guests: Player) -> None:
    """Start a race of these players, and of those who are ready on pages, up to the deal."""
    seen = {player: len(player.received.events) for player in (host, *guests)}
    for player in seen:
        await player.ready()
    await host.ask(Start, table=host.table.code)
    await asyncio.gather(*(player.reveal() for player in seen))
    for player, since in seen.items():
        await player.expect(BoardChanged, since, entries=[])


async def race_of_two(
    server: ServerProcess, host: str, guest: str, game: str = "canfield", races: int = 1
) -> str:
    """Let two people race: both cash out at once. Return the last race's id."""
    async with player_at(server.url, host) as anna, player_at(server.url, guest) as bert:
        code = (await anna.at_table(CreateTable, game=game)).table.code
        await bert.at_table(JoinTable, table=code)
        while True:
            await start(anna, bert)
            since = len(anna.received.events)
            await anna.cash_out()
            await bert.cash_out()
            await anna.expect(RaceOver, since)
            if not (races := races - 1):
                return anna.table.race
            await anna.ask(NextRace, table=code, race=anna.table.race)


async def follow(page: Page, link: str) -> None:
    """Follow a link of the page."""
    await page.get_by_role("link", name=link, exact=True).click()


async def test_a_result_comes_live_and_its_row_leads_to_the_race(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(own_page_server, "/leaderboards/canfield"))
    await expect(page.get_by_text("No results yet.")).to_be_visible()
    await expect(page.get_by_role("status")).to_contain_text("Live")
    async with player_at(own_page_server.url, "Anna") as anna:
        mira = await race_with_a_page(own_page_server, pages, anna)
        code = anna.table.code

    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(2)
    anna_row = rows.filter(has_text="Anna")
    await expect(anna_row).to_contain_text("\u2212$")
    rivals = anna_row.get_by_text("vs 1 person")
    await expect(rivals).to_be_visible()
    await page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    await expect(rivals).to_be_hidden()
    await expect(anna_row.locator("td.wide-only").first).to_have_text("1")
    await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    await look(page, "leaderboard")
    await page.get_by_role("link", name=f"race {code}/1 of Mira").click()
    await page.wait_for_url(f"**/races/{code}/1")

    # whoever is on the leaderboard is told the own rank, and sees the rows around it
    await mira.page.goto(page_url(own_page_server, "/leaderboards/canfield"))
    await expect(mira.page.locator("tr.me")).to_contain_text("Mira (you)")
    await expect(mira.page.get_by_role("status")).to_contain_text(re.compile("you are [12] of 2"))
    await follow(mira.page, "Around me")
    await mira.page.wait_for_url("**/leaderboards/canfield?rows=me")
    await expect(mira.page.locator("tr.me")).to_be_visible()


async def test_game_ranking_and_period_are_chosen_by_links_that_can_be_sent(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    race = await race_of_two(own_page_server, "Anna", "Bert", "lady-palk", races=5)
    page = await pages.open(page_url(own_page_server, "/leaderboards/canfield"))
    await follow(page, "Lady Palk")
    await expect(page.get_by_role("heading", name="Lady Palk: best results today")).to_be_visible()
    await expect(page.get_by_role("link", name="Lady Palk", exact=True)).to_be_focused()
    await expect(page.locator("tbody tr")).to_have_count(2)
    await follow(page, "Bankroll")
    await follow(page, "Month")
    await page.wait_for_url("**/leaderboards/lady-palk?ranking=bankroll&period=month")
    await expect(page.get_by_role("heading", name="most money this month")).to_be_visible()
    await expect(page.get_by_role("columnheader", name="last race")).to_be_visible()
    await check_accessible(page)
    other = await pages.open(page.url)
    await expect(other.get_by_role("link", name=f"race {race} of Anna")).to_be_visible()

    # five races on there is a rating, of people and for all time
    await follow(other, "Rating")
    await other.wait_for_url("**/leaderboards/lady-palk?ranking=rating&period=month")
    await expect(other.get_by_role("heading", name="strongest players of all time")).to_be_visible()
    row = other.locator("tbody tr").filter(has_text="Anna")
    await expect(row).to_contain_text(re.compile("[0-9]{4}give or take [0-9]+5race"))
    await expect(other.get_by_role("link", name="Bots")).to_have_count(0)
    await look(other, "leaderboard-rating")
    await follow(other, "Canfield")
    await expect(other.get_by_text("Nobody has a rating yet.")).to_be_visible()

    await follow(page, "Bots")
    await expect(page.get_by_text("No results yet.")).to_be_visible()
    await page.go_back()
    await expect(page.locator("tbody tr")).to_have_count(2)


async def test_the_leaderboard_goes_on_live_after_the_server_restarts(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("WebSocket connection to")
    page = await pages.open("about:blank")
    subscribed: asyncio.Queue[str] = asyncio.Queue()

    def follow_socket(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: subscribed.put_nowait(str(frame)))

    page.on("websocket", follow_socket)
    await page.goto(page_url(own_page_server, "/leaderboards/canfield"))
    await expect(page.get_by_text("No results yet.")).to_be_visible()
    await own_page_server.kill()
    await expect(page.get_by_text("Connection lost; trying again.")).to_be_visible()
    while not subscribed.empty():
        subscribed.get_nowait()
    await own_page_server.start()
    async with asyncio.timeout(SHOWN_WITHIN):
        while not json.loads(await subscribed.get()).get("follow"):
            pass
    await expect(page.get_by_role("status")).to_contain_text("Live")
    await race_of_two(own_page_server, "Anna", "Bert")
    await expect(page.locator("tbody tr")).to_have_count(2)


async def test_a_long_leaderboard_shows_more_rows_when_asked(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    async with AsyncExitStack() as here:
        names = [f"{letter}{letter} {letter}{letter}" for letter in "ABCDEFGHJKMNPQRSTUVWXY"]
        people = [
            await here.enter_async_context(player_at(own_page_server.url, name)) for name in names
        ]
        for host, *guests in (people[:11], people[11:]):
            code = (await host.at_table(CreateTable, game="canfield")).table.code
            for guest in guests:
                await guest.at_table(JoinTable, table=code)
            await start(host, *guests)
            for player in (host, *guests):
                await player.cash_out()
            await host.expect(RaceOver)
        page = await pages.open(page_url(own_page_server, "/leaderboards/canfield"))
        await expect(page.locator("tbody tr")).to_have_count(20)
        await expect(page.get_by_role("status")).to_contain_text("20 of 22 players")
        await follow(page, "Show more")
        await page.wait_for_url("**/leaderboards/canfield?limit=100")
        await expect(page.locator("tbody tr")).to_have_count(22)
        await expect(page.get_by_role("link", name="Show more")).to_have_count(0)
