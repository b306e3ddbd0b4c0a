"""The countdown on the page, which lasts five seconds, the start that leads to it, and how a board ends while others race."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page, WebSocketRoute, expect

from kit.browser_pages import (
    Pages,
    page_url,
)
from kit.page_player import PagePlayer, get_ready, open_table, press
from kit.players import SocketPlayer, player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, JoinTable, Start
from saratoga_protocol.events import RaceOver, TableChanged


@dataclass
class HeldReady:
    """A host's page whose first `ready` does not reach the server until the test says so."""

    sent: list[dict[str, Any]] = field(default_factory=list)
    """The commands that the page has sent."""
    ready: dict[str, Any] = field(default_factory=dict)

    def connect(self, page: WebSocketRoute) -> None:
        self.page, self.server = page, page.connect_to_server()
        page.on_message(self._sent)

    def _sent(self, frame: str | bytes) -> None:
        command = json.loads(frame)
        self.sent.append(command)
        if command["type"] == "ready" and not self.ready:
            self.ready = command
        else:
            self.server.send(frame)

    async def press_start(self, page: Page, server: ServerProcess) -> None:
        """Open a table and press Start, which gets ready first."""
        await page.route_web_socket(re.compile("^ws:"), self.connect)
        await page.goto(page_url(server))
        await open_table(page)
        await press(page, "Start the race").click()
        await expect(page.get_by_text("The race starts as soon as you are ready.")).to_be_visible()


async def test_a_start_before_the_ready_mark_waits_for_it(
    page_server: ServerProcess, pages: Pages
) -> None:
    page, held = await pages.open("about:blank"), HeldReady()
    await held.press_start(page, page_server)
    held.server.send(json.dumps(held.ready))
    await page.locator(".race .pile").first.wait_for()


async def test_a_start_whose_ready_mark_is_refused_is_forgotten(
    page_server: ServerProcess, pages: Pages
) -> None:
    page, held = await pages.open("about:blank"), HeldReady()
    await held.press_start(page, page_server)
    refusal = {"type": "refused", "re": held.ready["id"], "code": "blocked", "message": "Not now."}
    held.page.send(json.dumps(refusal))
    await expect(page.get_by_text("Not now.")).to_be_visible()
    await get_ready(page)
    await press(page, "Not ready").click()
    await expect(press(page, "Not ready")).to_have_count(0)
    assert "start" not in [command["type"] for command in held.sent]


CAP = 10


async def start(host: SocketPlayer, *others: SocketPlayer, seats: int = 2) -> None:
    """Start a race of so many players as soon as all are ready; the socket players do no more than they must."""
    for each in (host, *others):
        await each.ready()
    while sum(seat.ready for seat in host.table.seats) < seats:
        await host.expect(TableChanged, since=len(host.received.events))
    await host.ask(Start, table=host.table.code)
    await asyncio.gather(*(each.reveal() for each in (host, *others)))


@asynccontextmanager
async def beside_a_rival(
    server: ServerProcess, pages: Pages, game: str, cap: int = CAP
) -> AsyncIterator[tuple[PagePlayer, SocketPlayer]]:
    """Race on the page beside a rival who makes no move, so that the race goes on after the own board."""
    async with player_at(server.url, "Rival") as rival:
        code = (await rival.at_table(CreateTable, game=game, cap=cap)).table.code
        page = await pages.open("about:blank", has_touch=True, reduced_motion="reduce")
        player = PagePlayer(page, game)
        await page.goto(page_url(server, f"/{code}"))
        await player.sit_down("Mira")
        await player.get_ready()
        await start(rival)
        await player.dealt()
        yield player, rival


async def test_a_player_who_leaves_the_page_in_mid_race_comes_back_to_the_board(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with beside_a_rival(page_server, pages, "klondike") as (player, rival):
        await player.race(player.tap_move, 3)
        page, here = player.page, player.page.url
        # home, and back by its link
        await page.goto(page_url(page_server))
        await page.get_by_role("link", name="Back to your table").click()
        await page.get_by_text("Your board, as you left it.").wait_for()
        await player.shows_board()
        await player.race(player.tap_move, 1)
        # the tab is closed, and the invitation's link opened again
        again = PagePlayer(await page.context.new_page(), "klondike")
        await page.close()
        await again.page.goto(here)
        await again.dealt()
        assert again.board.count == player.board.count == 4
        await again.shows_board()
        await again.race(again.tap_move, 1)
        # left for good: the seat is given up, and the board counts
        await again.page.keyboard.press("q")
        await press(again.page, "Leave").click()
        await again.page.get_by_role("heading", name="Race your friends").wait_for()
        await rival.cash_out()
        over = await rival.expect(RaceOver)
        assert {row.state for row in over.outcome.results} == {"left", "cash-out"}


async def test_the_host_ends_the_last_board_only_after_a_question(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open("about:blank")
    sent = []

    async def hasten(socket: WebSocketRoute) -> None:
        """Tell the page that the minute is over in which the last board may not be ended."""
        server = socket.connect_to_server()
        server.on_message(lambda text: socket.send(re.sub(r'"end_from":\d+', '"end_from":1', text)))

        def pass_on(text: str | bytes) -> None:
            sent.append(str(text))
            server.send(text)

        socket.on_message(pass_on)

    await page.route_web_socket(re.compile("^ws:"), hasten)
    await page.goto(page_url(page_server))
    code = await open_table(page)
    async with player_at(page_server.url, "Rival") as rival:
        await rival.at_table(JoinTable, table=code)
        await rival.ready()
        await expect(page.locator(".seats .ready")).to_have_count(1)
        await press(page, "Start the race").click()
        await rival.reveal()
        await page.locator(".race .pile").first.wait_for()
        await page.keyboard.press("x")
        await page.keyboard.press("y")
        await press(page, "Watch the race").last.click()
        question = page.get_by_role("dialog", name="End the race of Rival?")
        await press(page, "End the race").click()
        await question.get_by_text("Rival keeps the banked cards.").wait_for()
        # a shortcut of the browser answers no question
        await page.keyboard.press("Control+y")
        await expect(question).to_have_count(1)
        await page.keyboard.press("n")
        await expect(question).to_have_count(0)
        assert not any("end_race" in text for text in sent)
        await page.keyboard.press("x")
        await question.get_by_role("button", name="End the race").click()
        # the server's own minute is not over: whoever still races may agree
        while not rival.table.votes:
            await rival.expect(TableChanged, since=len(rival.received.events))
        assert sum("end_race" in text for text in sent) == 1
