"""From screen to screen on the page: the focus, what is read aloud, presses under way, and the way back."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from playwright.async_api import Locator, Page, expect

from kit.browser_pages import (
    DESKTOP,
    PHONE,
    Pages,
    check_accessible,
    look,
    page_url,
    serving_pages,
)
from kit.page_player import BRISK, RESULT, open_table, press, rival_at, seat_of
from kit.player_sockets import SocketPlayer, player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, JoinTable, Start

WIDE = ("W" * 20, "M" * 20)


async def test_a_race_by_keys_alone_never_loses_the_focus(pages: Pages) -> None:
    async with (
        serving_pages(module=ServerProcess.module) as server,
        rival_at(server, "klondike") as rival,
        asyncio.TaskGroup() as group,
    ):
        rivals_race = group.create_task(rival.race(1, BRISK, 2))
        page = await pages.open(page_url(server, f"/{rival.notes.code}"), DESKTOP)
        keys = page.keyboard
        await expect(page.get_by_label("Your name at this table")).to_be_focused()
        await keys.type("Mira")
        await keys.press("Enter")
        await expect(page.get_by_role("heading", name="Klondike")).to_be_focused()
        await keys.press("r")
        await expect(page.get_by_role("heading", name="one deal for both")).to_be_focused()
        await expect(page.get_by_text("The race starts in ")).to_have_role("status")
        assert await page.locator("[aria-live=assertive]").count() == 0
        await expect(page.locator(".pile[data-pile=stock]")).to_be_focused()
        # the last words about the rival, which would take the place of those about the draw
        await page.get_by_text("Only you are still racing").first.wait_for()
        await keys.press("Space")
        await expect(page.get_by_text("3 cards from the stock")).to_be_visible()
        # what no sign shows to the ear: the card that the draw turned up
        turned = page.locator("[aria-live=polite]", has_text="The waste:")
        await expect(turned).to_have_text(
            re.compile(r"(\w+) of (spades|hearts|diamonds|clubs) on top\.$")
        )
        await keys.press("x")
        await keys.press("y")
        await keys.press("Enter")
        await rivals_race
        await expect(page.get_by_role("heading", name=RESULT)).to_be_focused()
        await keys.press("v")
        await expect(page.get_by_role("heading", name="Where you parted")).to_be_focused()
        await keys.press("Home")
        await expect(page.locator(".next", has_text="3 cards from the stock").first).to_be_visible()
        await pages.close()


async def test_the_button_of_the_call_keeps_the_focus(pages: Pages) -> None:
    async with (
        serving_pages(module=ServerProcess.module) as server,
        player_at(server.url, "Anna") as anna,
    ):
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        page = await pages.open(page_url(server, f"/{code}"))
        await page.get_by_label("Your name at this table").fill("Mira")
        await press(page, "Sit down").click()
        await expect(seat_of(page, "Mira (you)")).to_be_visible()
        await anna.ready()
        await anna.ask(Start, table=code)
        await press(page, "Ready").focus()
        await page.keyboard.press("Enter")
        await expect(press(page, "Not ready")).to_be_focused()
        await pages.close()


@asynccontextmanager
async def racing_with_wide_names(
    server: ServerProcess, pages: Pages
) -> AsyncIterator[tuple[Page, list[SocketPlayer]]]:
    """Race on a wide page as host against players whose names have one word of wide letters."""
    page = await pages.open(page_url(server), DESKTOP)
    code = await open_table(page, game="Canfield")
    async with AsyncExitStack() as here:
        rivals = [await here.enter_async_context(player_at(server.url, name)) for name in WIDE]
        for rival in rivals:
            await rival.at_table(JoinTable, table=code)
            await rival.ready()
        await press(page, "I am ready").click()
        await expect(page.locator(".seats .ready")).to_have_count(len(rivals) + 1)
        # the click may return after the countdown has ended
        await asyncio.gather(press(page, "Start").click(), *(rival.reveal() for rival in rivals))
        await page.locator(".race .pile").first.wait_for()
        yield page, rivals


async def hidden_width(part: Locator) -> int:
    """Return the pixels of a part of the page that are to be seen only by scrolling sideways."""
    width: int = await part.evaluate("part => part.scrollWidth - part.clientWidth")
    return width


async def test_wide_names_leave_room_for_the_figures(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing_with_wide_names(page_server, pages) as (page, _):
        assert await hidden_width(page.locator(".side")) == 0
        await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        await page.get_by_role("button", name="Standings and menu").click()
        assert await hidden_width(page.get_by_role("dialog")) == 0
        watcher = await pages.open(page.url)
        await press(watcher, "Only watch").click()
        await watcher.locator(".lanes").wait_for()
        await look(watcher, "watch-wide-names")


async def test_a_press_on_cash_out_survives_a_change_of_the_standings(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing_with_wide_names(page_server, pages) as (page, rivals):
        await page.get_by_role("button", name="Cash out").hover()
        await page.mouse.down()
        await rivals[0].cash_out()
        await expect(page.locator(".side .out")).to_have_count(1)
        await page.mouse.up()
        await page.get_by_role("dialog", name="Cash out with").wait_for()
        await page.keyboard.press("n")
        await expect(page.get_by_role("button", name="Cash out")).to_be_focused()
        await rivals[1].cash_out()
        await expect(page.locator(".side .out")).to_have_count(2)
        await expect(page.get_by_role("button", name="Cash out")).to_be_focused()


async def test_the_way_back_leads_from_a_table_that_does_not_exist(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    await page.get_by_label("Code or link of the table").fill("mint-otter-42")
    await page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="There is no table with that code.")
    await expect(heading).to_be_focused()
    await check_accessible(page)
    await page.go_back()
    await expect(page.get_by_role("heading", name="Public tables")).to_be_visible()
    await expect(heading).to_have_count(0)


async def test_only_cards_that_turned_up_are_told(page_server: ServerProcess, pages: Pages) -> None:
    page = await pages.open(page_url(page_server))
    told = await page.evaluate("""async () => {
        const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "session.js"));
        const board = (flight, hidden, more = {}) => ({ race: "a", flight, takenBack: "", ...more,
            view: { face_down: [0, hidden], columns: ["KS", "7D"], waste: "", reserve_top: "9C" } });
        const told = (flight, after) => page.turnedUp(board(flight, 1), after);
        return [told("t2>t5", board("", 0)), told("t2>t5", board("", 1)), told("r>up", board("", 1)), told("t2>t5", board("draw", 0)),
            told("t2>t5", board("", 0, { takenBack: "No." })), told("", board("", 0)), told("draw", board("", 1))];
    }""")
    assert told == ["Column 2: 7♦ on top.", "", "The reserve: 9♣ on top.", "", "", "", ""]


async def test_the_operators_announcement_is_shown_at_the_table_and_in_the_lobby(
    page_server: ServerProcess, pages: Pages
) -> None:
    lobby, page = [await pages.open(page_url(page_server)) for _ in range(2)]
    code = await open_table(page)
    guest = await pages.open(page_url(page_server, f"/{code}"))
    await expect(guest.get_by_label("Your name at this table")).to_be_visible()
    await expect(lobby.get_by_text("None now")).to_be_visible()
    await page_server.admin("announce", "The server restarts at ten.")
    for each in (page, lobby, guest):
        await expect(each.get_by_role("status").get_by_text("at ten.")).to_be_visible()
