"""The home of the page and the routes that lead there: a race at once, new tables, public ones, a table by its code, a game that only the server knows."""

import asyncio
import re
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Locator, WebSocketRoute, expect

from kit.altered_server import NEW_GAME, NEW_TITLE, UNKNOWN_GAME
from kit.browser_pages import (
    DESKTOP,
    Pages,
    check_accessible,
    look,
    page_url,
    serving_pages,
    take_screenshot,
)
from kit.deployment import write_certificate
from kit.page_player import (
    TABLE,
    PagePlayer,
    get_ready,
    open_table,
    press,
    press_named,
    seat_of,
    sit_down,
    tile,
)
from kit.players import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, JoinTable, Start
from saratoga_protocol.events import BoardChanged, RaceOver, TableChanged


async def test_one_tap_at_home_starts_a_race_against_bots_which_the_home_remembers(
    pages: Pages,
) -> None:
    async with serving_pages("--bots") as server:
        page = await pages.open("about:blank", has_touch=True, reduced_motion="reduce")
        player = PagePlayer(page, "klondike")
        await page.goto(page_url(server))
        await expect(page.get_by_text("How it works")).to_be_visible()
        await press_named(page, "Play now").click()
        await player.dealt()
        await player.race(player.tap_move, 3)
        await player.cash_out()
        await player.seen_results()
        results = page.get_by_role("table", name="Results")
        for racer in ("You", "weak bot", "even bot"):
            await expect(results.get_by_text(racer)).to_be_visible()
        code = player.board.race.split("/")[0]
        await page.goto(page_url(server))
        await expect(
            page.get_by_role("button", name=re.compile("^Guest [0-9]{3}$"))
        ).to_be_visible()
        last = page.locator(".lines li")
        await expect(last).to_contain_text([f"of 3 {player.board.banked} card"])
        await look(page, "home-remembers")
        await page.get_by_role("link", name="Back to your table").click()
        await page.wait_for_url(f"**/{code}")
        await pages.close()


async def test_a_race_at_once_without_bots_waits_at_the_table(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    await press_named(page, "Play now").click()
    await expect(page.get_by_text("This server has no bots now.")).to_be_visible()
    await expect(page.get_by_text("Add a bot")).to_have_count(0)
    await press(page, "Start the race").click()
    await page.locator(".race .pile").first.wait_for()


async def test_a_server_that_is_away_is_one_line_of_the_home(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("WebSocket connection")
    page = await pages.open(page_url(own_page_server))
    await expect(page.get_by_text("None now")).to_be_visible()
    await page.evaluate(WHOLE)
    await own_page_server.kill()
    await expect(page.get_by_text("The server is away; trying again.")).to_be_visible()
    await own_page_server.start()
    await expect(page.get_by_text("The server is away")).to_have_count(0)


async def test_the_home_lists_public_tables_and_a_player_moves_between_them(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(own_page_server))
    await expect(page.get_by_text("None now")).to_be_visible()
    async with (
        player_at(own_page_server.url, "Anna") as anna,
        player_at(own_page_server.url, "Old Tom") as tom,
    ):
        first = (await anna.at_table(CreateTable, game="canfield", public=True)).table.code
        second = (await tom.at_table(CreateTable, game="caprice", public=True)).table.code
        await expect(page.locator(".tables li")).to_have_count(2)
        await look(page, "home")

        # without a name, the table asks for it
        await page.get_by_role("link", name="Canfield of Anna").click()
        await sit_down(page, "Mira")
        await expect(seat_of(page, "Mira (you)")).to_be_visible()

        # back at home the seat is kept; a seat elsewhere gives it up
        await page.get_by_role("link", name="Saratoga").click()
        await page.get_by_role("link", name=f"Back to your table {first}").click()
        await expect(seat_of(page, "Mira (you)")).to_be_visible()
        await page.get_by_role("link", name="Saratoga").click()
        await page.get_by_role("link", name="Caprice of Old Tom").click()
        await page.wait_for_url(f"**/{second}")
        await press(page, "Take a seat").click()
        await expect(seat_of(page, "Mira (you)")).to_be_visible()
        while len(anna.table.seats) > 1:
            await anna.expect(TableChanged, since=len(anna.received.events))


async def test_a_code_a_link_or_an_invitation_leads_to_the_table(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        page = await pages.open(page_url(page_server))
        link = page_url(page_server, f"/{code}").replace("http", "ws")
        for text in (code, f"  {code.upper()} ", f"Race me!\nsaratoga join {link}"):
            await page.get_by_label("Code or link of the table").fill(text)
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("heading", name="Anna wants to")).to_be_visible()
            await page.go_back()


async def test_what_is_no_name_or_code_is_said_kindly(
    page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open(page_url(page_server))
    await press_named(page, "Race friends").click()
    await press(page, "Open the table").click()
    await expect(page.get_by_text("Give a name, such as Anna")).to_be_visible()
    await expect(page.get_by_label("What shall we call you?")).to_be_focused()
    await check_accessible(page)
    await page.keyboard.press("Escape")
    code = page.get_by_label("Code or link of the table")
    await code.fill("my table")
    await press(page, "Join").click()
    await expect(page.get_by_text("for example mint-otter-42")).to_be_visible()
    await code.fill("wss://cards.example.org/mint-otter-42")
    await press(page, "Join").click()
    elsewhere = page.get_by_role("link", name="https://cards.example.org/mint-otter-42")
    await expect(elsewhere).to_be_visible()
    await code.fill("mint-otter-42")
    await press(page, "Join").click()
    unknown = page.get_by_role("heading", name="There is no table with that code.")
    await expect(unknown).to_be_focused()
    await check_accessible(page)
    await page.go_back()
    await expect(page.get_by_role("heading", name="Race your friends")).to_be_visible()
    await expect(unknown).to_have_count(0)
    await page.go_forward()
    # another code can be typed here
    await code.fill("my table")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("for example mint-otter-42")).to_be_visible()
    await page.get_by_role("link", name="Go home").click()
    await expect(page.get_by_role("heading", name="Race your friends")).to_be_visible()


async def test_a_player_who_races_elsewhere_returns_there(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    racing_at = await open_table(page)
    await get_ready(page)
    await press(page, "Start the race").click()
    await page.locator(".race .pile").first.wait_for()
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        await page.goto(page_url(page_server, f"/{code}"))
        await press(page, "Take a seat").click()
        await page.wait_for_url(f"**/{racing_at}")
        await expect(page.get_by_text(f"You are in a race at {racing_at}")).to_be_visible()
        await page.locator(".race .pile").first.wait_for()
        assert len(anna.table.seats) == 1


async def test_a_seat_is_given_up_only_for_a_new_one_and_by_a_host_after_a_question(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    first = await open_table(page)
    async with (
        player_at(page_server.url, "Bert") as bert,
        player_at(page_server.url, "Anna") as anna,
    ):
        await bert.at_table(JoinTable, table=first)
        full = (await anna.at_table(CreateTable, game="canfield", seats=1)).table.code
        await page.get_by_role("link", name="Saratoga").click()
        await page.get_by_label("Code or link of the table").fill("wrong-code-99")
        await press(page, "Join").click()
        await expect(page.get_by_text("There is no table with that code.")).to_be_visible()
        await page.get_by_label("Code or link of the table").fill(full)
        await press(page, "Join").click()
        await press(page, "Take a seat").click()
        await expect(page.get_by_role("alert")).to_contain_text("Every seat is taken")
        await page.get_by_role("link", name="Saratoga").click()
        await press_named(page, "Race friends").click()
        question = page.get_by_role("dialog", name=f"Leave {first}?")
        await press(page, "Stay").click()
        await expect(question).to_have_count(0)
        host = bert.table.host
        assert [seat.name for seat in bert.table.seats if seat.player == host] == ["Mira"]
        await press_named(page, "Race friends").click()
        await press(page, "Leave").click()
        await page.wait_for_url(TABLE)
        await expect(seat_of(page, "Mira (you)")).to_be_visible()
        while len(bert.table.seats) > 1:
            await bert.expect(TableChanged, since=len(bert.received.events))


async def test_a_table_that_is_opened_before_the_connection_waits_for_it(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open("about:blank")
    may_connect = asyncio.Event()

    async def hold(socket: WebSocketRoute) -> None:
        await may_connect.wait()
        socket.connect_to_server()

    await page.route_web_socket(re.compile("^ws:"), hold)
    await page.goto(page_url(page_server))
    await tile(page, "Lafayette").click()
    await page.get_by_label("What shall we call you?").fill("Mira")
    await press(page, "Open the table").click()
    may_connect.set()
    await page.wait_for_url(TABLE)
    await expect(seat_of(page, "Mira (you)")).to_be_visible()


async def test_a_race_begins_by_the_keyboard_alone(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), DESKTOP)
    keyboard = page.keyboard
    await expect(page.get_by_text("None now")).to_be_visible()

    async def tab_to(control: Locator) -> None:
        for _ in range(40):
            if await control.evaluate("control => control === document.activeElement"):
                return
            await keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {control}")

    await tab_to(tile(page, "Lafayette"))
    await keyboard.press("Enter")
    await keyboard.type("Mira")
    await keyboard.press("Enter")
    await page.wait_for_url(TABLE)
    await expect(page.get_by_role("heading", name="Just you so far")).to_be_focused()
    await tab_to(press(page, "Start the race"))
    await keyboard.press("Enter")
    await page.locator(".race .pile").first.wait_for()


async def test_home_leaderboards_and_player_are_accessible_in_every_theme(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(own_page_server.url, "Anna") as anna:
        await anna.at_table(CreateTable, game="canfield", public=True)
        for theme in ("felt", "contrast"):
            page = await pages.open(page_url(own_page_server))
            await page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            await expect(page.locator(".tables li")).to_have_count(1)
            await check_accessible(page)
            await take_screenshot(page, f"home-{theme}")
            await page.get_by_role("button", name="You", exact=True).click()
            await press(page, "Show my link").click()
            await page.get_by_text("With a terminal").click()
            await press(page, "Show the token").click()
            await check_accessible(page)
            await page.keyboard.press("Escape")
            await page.get_by_role("link", name="Leaders").click()
            await expect(page.get_by_role("status")).to_contain_text("Live")
            await check_accessible(page)
            await take_screenshot(page, f"leaderboard-{theme}")


WHOLE = """async () => {
    await import(document.querySelector("script[type=module]").src.replace("main.js", "open_results.js"));
}"""
"""A function that waits until the last of the page's modules is loaded."""


async def test_what_does_not_exist_is_a_page_too(page_server: ServerProcess, pages: Pages) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open("about:blank")
    for path in ("/mint-otter-42", "/leaderboards/poker", "/races/mint-otter-42/1"):
        await page.goto(page_url(page_server, path))
        await look(page, f"missing-{path.split('/')[1]}")
        await page.get_by_role("link", name="Go home").click()
        await page.wait_for_url(page_url(page_server))


@pytest.mark.needs("openssl")
async def test_the_page_loads_over_tls(pages: Pages, tmp_path: Path) -> None:
    certificate = write_certificate(tmp_path)
    tls = ("--tls-cert", str(certificate), "--tls-key", str(tmp_path / "privkey.pem"))
    async with serving_pages(*tls) as server:
        page = await pages.open(page_url(server, scheme="https"))
        assert await page.evaluate("isSecureContext") is True
        await look(page, "tls-home")
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
    # the icon, the styles, and all modules
    assert 0 < len(first) <= 22
    assert all(size > 0 for size in first.values())
    named = await page.evaluate(
        "[...document.querySelectorAll('link:not([href$=\"later.css\"], [rel=manifest], [rel=apple-touch-icon]), script[src]')].map(each => each.href || each.src)"
    )
    document = await page.evaluate("performance.getEntriesByType('navigation')[0].transferSize")
    assert len(set(named)) == 16
    assert document + sum(first[name] for name in set(named) if name in first) <= FIRST_LOAD
    await page.reload()
    await page.evaluate(WHOLE)
    assert set(dict(await page.evaluate(loaded)).values()) == {0}


async def test_a_page_whose_last_modules_are_withheld_says_so_when_it_needs_them(
    page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open("about:blank")
    await page.route("**/results.js", lambda route: route.fulfill(status=404))
    await page.goto(page_url(page_server))
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        await anna.ready()
        await anna.ask(Start, table=code)
        await anna.reveal()
        await anna.expect(BoardChanged, entries=[])
        await anna.cash_out()
        await anna.expect(RaceOver)
        await page.get_by_label("Code or link of the table").fill(code)
        await page.keyboard.press("Enter")
        await press(page, "I'd rather watch").click()
        await expect(page.get_by_role("heading", name="This page is incomplete.")).to_be_focused()
        await look(page, "incomplete")
        await page.unroute("**/results.js")
        await page.get_by_role("link", name="Load the page again").click()
        await page.get_by_role("table", name="Results").wait_for()


async def test_a_game_that_only_the_server_knows_is_raced_and_checked(pages: Pages) -> None:
    async with serving_pages(module=NEW_GAME) as server:
        page = await pages.open(page_url(server), DESKTOP)
        code = await open_table(page, game=NEW_TITLE)

        guest = await pages.open(page_url(server, f"/{code}"))
        await expect(guest.get_by_role("heading", name=NEW_TITLE)).to_be_visible()
        await expect(guest.get_by_text("the cards cost $48, casino money")).to_be_visible()

        await get_ready(page)
        await press(page, "Start the race").click()
        stock = page.locator('.race .pile[data-pile="stock"]')
        await expect(stock).to_have_attribute("aria-label", "Stock: 34 cards, pass 1 of 4; draw 2")
        reserve = page.locator('.race .pile[data-pile="r"]')
        await expect(reserve).to_have_attribute("aria-label", re.compile("^Reserve: 9 cards, "))
        await expect(page.get_by_text("9 cards to break even")).to_be_visible()

        await page.keyboard.press("?")
        rules = page.get_by_role("dialog")
        await expect(rules.get_by_text(f"Rules of {NEW_TITLE}")).to_be_visible()
        await expect(rules.get_by_text("A game for the moon.")).to_be_visible()
        await expect(
            rules.get_by_text("2 cards at a time onto the waste, 4 passes")
        ).to_be_visible()
        await page.keyboard.press("Escape")

        await page.keyboard.press("x")
        await page.get_by_role("dialog").get_by_role("button", name="Cash out").click()
        await page.get_by_text("Fair deal.").wait_for()
        await page.get_by_role("link", name="See all boards").click()
        await expect(page.locator('.mini .pile[data-pile="stock"]').first).to_have_attribute(
            "aria-label", "Stock: 34 cards, pass 1 of 4; draw 2"
        )
        link = f"/leaderboards/{UNKNOWN_GAME}"
        await page.goto(page_url(server, link))
        await expect(page.get_by_role("heading", name=f"{NEW_TITLE}: best results")).to_be_visible()
        await pages.close()
