"""The leaderboards on the page: followed live, and linked to the races."""

import asyncio
import json
import re
from contextlib import AsyncExitStack

from playwright.async_api import Page, WebSocket, expect

from kit.browser_pages import DESKTOP, PHONE, SHOWN_WITHIN, Pages, check_accessible, look, page_url
from kit.page_player import PagePlayer
from kit.player_sockets import player_at
from kit.players import Player
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, JoinTable, Start
from saratoga_protocol.events import Dealt, RaceOver


async def start(host: Player, *guests: Player) -> None:
    """Start a race of these players, and of those who are ready on pages, up to the deal."""
    for player in (host, *guests):
        await player.ready()
    await host.ask(Start, table=host.table.code)
    await asyncio.gather(*(player.reveal() for player in (host, *guests)))
    for player in (host, *guests):
        await player.expect(Dealt)


async def race_of_two(server: ServerProcess, host: str, guest: str, game: str = "canfield") -> str:
    """Let two people race: both cash out at once. Return the race's id."""
    async with player_at(server.url, host) as anna, player_at(server.url, guest) as bert:
        code = (await anna.at_table(CreateTable, game=game)).table.code
        await bert.at_table(JoinTable, table=code)
        await start(anna, bert)
        await anna.cash_out()
        await bert.cash_out()
        await anna.expect(RaceOver)
        return anna.table.race


async def follow(page: Page, link: str) -> None:
    """Follow a link of the page."""
    await page.get_by_role("link", name=link, exact=True).click()


async def test_a_result_comes_live_and_its_row_leads_to_the_race(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server, "/leaderboards/canfield"))
    await expect(page.get_by_text("No results yet.")).to_be_visible()
    await expect(page.get_by_role("status")).to_contain_text("Live")
    async with player_at(page_server.url, "Anna") as anna:
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
    await mira.page.goto(page_url(page_server, "/leaderboards/canfield"))
    await expect(mira.page.locator("tr.me")).to_contain_text("Mira (you)")
    await expect(mira.page.get_by_role("status")).to_contain_text(re.compile("you are [12] of 2"))
    await follow(mira.page, "Around me")
    await mira.page.wait_for_url("**/leaderboards/canfield?rows=me")
    await expect(mira.page.locator("tr.me")).to_be_visible()


async def test_game_ranking_and_period_are_chosen_by_links_that_can_be_sent(
    page_server: ServerProcess, pages: Pages
) -> None:
    race = await race_of_two(page_server, "Anna", "Bert", "lady-palk")
    page = await pages.open(page_url(page_server, "/leaderboards/canfield"))
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

    await follow(page, "Bots")
    await expect(page.get_by_text("No results yet.")).to_be_visible()
    await page.go_back()
    await expect(page.locator("tbody tr")).to_have_count(2)

    # the lobby names today's leaders
    await page.get_by_role("link", name="Saratoga").click()
    leaders = page.get_by_role("table", name="Today's leader of each game")
    await expect(leaders.get_by_role("row", name="Lady Palk")).to_contain_text(
        re.compile("Anna|Bert")
    )
    await leaders.get_by_role("link", name="Lady Palk").click()
    await page.wait_for_url("**/leaderboards/lady-palk")


async def test_the_leaderboard_goes_on_live_after_the_server_restarts(
    page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("WebSocket connection to")
    page = await pages.open("about:blank")
    subscribed: asyncio.Queue[str] = asyncio.Queue()

    def follow_socket(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: subscribed.put_nowait(str(frame)))

    page.on("websocket", follow_socket)
    await page.goto(page_url(page_server, "/leaderboards/canfield"))
    await expect(page.get_by_text("No results yet.")).to_be_visible()
    await page_server.kill()
    await expect(page.get_by_text("Connection lost; trying again.")).to_be_visible()
    while not subscribed.empty():
        subscribed.get_nowait()
    await page_server.start()
    async with asyncio.timeout(SHOWN_WITHIN):
        while json.loads(await subscribed.get())["type"] != "subscribe_leaderboard":
            pass
    await expect(page.get_by_role("status")).to_contain_text("Live")
    await race_of_two(page_server, "Anna", "Bert")
    await expect(page.locator("tbody tr")).to_have_count(2)


async def test_a_long_leaderboard_shows_more_rows_when_asked(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with AsyncExitStack() as here:
        names = [f"{letter}{letter} {letter}{letter}" for letter in "ABCDEFGHJKMNPQRSTUVWXY"]
        people = [
            await here.enter_async_context(player_at(page_server.url, name)) for name in names
        ]
        for host, *guests in (people[:11], people[11:]):
            code = (await host.at_table(CreateTable, game="canfield")).table.code
            for guest in guests:
                await guest.at_table(JoinTable, table=code)
            await start(host, *guests)
            for player in (host, *guests):
                await player.cash_out()
            await host.expect(RaceOver)
        page = await pages.open(page_url(page_server, "/leaderboards/canfield"))
        await expect(page.locator("tbody tr")).to_have_count(20)
        await expect(page.get_by_role("status")).to_contain_text("20 of 22 players")
        await look(page, "leaderboard-long")
        await follow(page, "Show more")
        await page.wait_for_url("**/leaderboards/canfield?limit=100")
        await expect(page.locator("tbody tr")).to_have_count(22)
        await expect(page.get_by_role("link", name="Show more")).to_have_count(0)
