"""Races on the page with interruptions: nothing is lost, and the player is told, also before silence ends a board."""

import asyncio
from typing import Any, Final

import pytest
from playwright.async_api import Page, Route, expect

from kit.browser_pages import (
    PHONE,
    PHONE_ON_ITS_SIDE,
    Pages,
    check_accessible,
    page_url,
    take_screenshot,
)
from kit.deployment import deployed
from kit.faulty_link import FaultyLink, LinkConnection, LinkFault, open_link, to_ports
from kit.page_player import SHOWS, open_table, racing, seat_of
from kit.players import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import JoinTable
from saratoga_rules.moves import Draw


def narrow(bits: int, round_trip: float) -> LinkFault:
    """Return a fault that makes a link slow: so many bits a second each way, shared by all connections.

    A connection opens after `round_trip` seconds, and data takes half of that each way, in its
    order.
    """
    free = {"to_server": 0.0, "to_client": 0.0}

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        loop = asyncio.get_running_loop()
        opens = loop.time() + round_trip
        last = {"to_server": 0.0, "to_client": 0.0}

        def arrival(way: str, data: bytes) -> float:
            free[way] = max(free[way], loop.time()) + 8 * len(data) / bits
            # the loop keeps no order among calls at one time
            last[way] = max(free[way] + round_trip / 2, opens, last[way] + 1e-6)
            return last[way]

        def to_server(data: bytes) -> bytes:
            assert connection.server is not None
            loop.call_at(arrival("to_server", data), connection.server.write, data)
            return b""

        def to_client(data: bytes) -> bytes:
            arrives = arrival("to_client", data)
            loop.call_at(arrives, connection.client.write, data)
            connection.late_until = arrives + 1e-6
            return b""

        connection.to_server, connection.to_client = to_server, to_client

    return fault


async def test_a_killed_server_loses_no_move_of_a_race(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("WebSocket connection")
    async with racing(own_page_server, pages, "lafayette", has_touch=True) as player:
        await player.race(player.tap_move, 6)
        await own_page_server.kill()
        await player.page.locator(".away").wait_for()
        await player.tap("stock")
        await player.page.get_by_text("waiting", exact=False).wait_for()
        await take_screenshot(player.page, "reconnecting")
        await check_accessible(player.page)
        await player.answered(own_page_server.start())
        await player.page.locator(".race:not(.away)").wait_for()
        await player.race(player.tap_move, 6)
        assert len(player.notes.acknowledged) == 13


async def test_a_page_that_was_offline_goes_on_where_it_was(
    page_server: ServerProcess, pages: Pages
) -> None:
    pages.forgive("WebSocket connection")
    async with (
        open_link(to_ports(page_server.port)) as link,
        racing(page_server, pages, "lady-palk", link=link, has_touch=True) as player,
    ):
        await player.race(player.tap_move, 4)
        move, view = (await player.carries())[0], player.board.view
        await player.tap(move.source)
        link.go_half_open()
        await player.tap_target(move)
        # a carry is shown before its answer
        cards = view.columns[move.origin][-2 * move.count :]
        shown = {move.target: view.columns[move.destination] + cards}
        await player.page.wait_for_function(SHOWS, arg=shown)
        assert len(player.notes.acknowledged) == 4
        await player.page.locator(".away").wait_for()
        link.cut()
        await player.until(lambda: len(player.notes.acknowledged) > 4)
        await player.shows_board()
        await player.race(player.tap_move, 4)
        assert not player.notes.denied


async def test_a_turned_phone_keeps_the_pick_and_the_focus(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "lady-palk", has_touch=True) as player:
        move = (await player.carries())[0]
        await player.tap(move.source)
        picked = player.page.locator(f'.pile[data-pile="{move.source}"][aria-pressed=true]')
        await picked.wait_for()
        focused = "document.activeElement.dataset.pile"
        assert await player.page.evaluate(focused) == move.source
        for width, height in (PHONE_ON_ITS_SIDE, PHONE):
            await player.page.set_viewport_size({"width": width, "height": height})
            await picked.wait_for()
            assert await player.page.evaluate(focused) == move.source
        await player.answered(player.tap_target(move))


async def test_the_older_of_two_tabs_says_that_the_newer_plays_and_takes_over_again(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "caprice", has_touch=True) as player:
        await player.race(player.tap_move, 3)
        older = player.page
        newer = await pages.open_tab(older, older.url)
        await newer.locator(".race .pile").first.wait_for()
        await older.get_by_text("in another window").wait_for()
        await check_accessible(older)
        await older.get_by_role("link", name="Play here instead").click()
        await newer.get_by_text("in another window").wait_for()
        await player.dealt()
        await player.answered(player.tap_move(Draw()))


FEEL_TAP: Final = """() => {
    const stock = document.querySelector("[data-pile=stock]");
    const felt = [];
    addEventListener("pointerdown", () => felt.push(stock.matches(".pressed")), { once: true });
    addEventListener("click", () => felt.push(stock.matches(".asked")), { once: true });
    Object.assign(window, {felt});
}"""
"""A function that notes in `felt` whether the stock shows the next tap: at touch-down, and while its answer is out."""


async def test_a_race_over_a_slow_network_loses_nothing_from_the_link_to_the_results(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with (
        open_link(to_ports(page_server.port), narrow(400_000, 0.4)) as link,
        racing(page_server, pages, "lady-palk", link=link, has_touch=True) as player,
    ):
        page = player.page
        await page.evaluate(FEEL_TAP)
        await player.tap("stock")
        await page.wait_for_function("() => felt.length === 2")
        assert await page.evaluate("felt") == [True, True]
        await player.until(lambda: len(player.notes.acknowledged) == 1)
        # taps that come before the answer wait for it, and each is shown
        for _ in range(5):
            await player.tap("stock")
        await player.until(lambda: len(player.notes.acknowledged) == 6)
        assert {done.text for done in player.notes.acknowledged} == {"draw"}
        await player.race(player.tap_move, 6)
        assert len(player.notes.acknowledged) == 12
        assert not player.notes.denied
        await expect(player.page.locator(".away")).to_have_count(0)


IDLE: Final = "const IDLE = 180_000;"
SOON: Final = "const IDLE = 70_000;"
"""A warning after two seconds: a minute before the end."""


async def warn_soon(page: Page) -> None:
    """Let the page warn after two seconds without a sign."""

    async def answer(route: Route) -> None:
        fetched = await route.fetch()
        text = await fetched.text()
        assert IDLE in text
        await route.fulfill(response=fetched, body=text.replace(IDLE, SOON))

    await page.route("**/session.js", answer)


async def test_a_racer_is_warned_and_a_key_ends_the_warning(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "canfield", pace=1, finishes=False, has_touch=True, prepare=warn_soon
    ) as player:
        warning = player.page.get_by_text("Your board ends in 60 s")
        await warning.wait_for()
        await player.page.keyboard.press("Shift")
        await warning.wait_for(state="detached")


async def test_a_host_between_races_is_warned_unless_alone(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open("about:blank")
    await warn_soon(page)
    await page.goto(page_url(page_server))
    code = await open_table(page)
    async with player_at(page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await expect(seat_of(page, "Bert")).to_be_visible()
        await expect(page.get_by_role("status")).to_contain_text("another player becomes host")
        await page.keyboard.press("Shift")
        await expect(page.get_by_role("status")).to_have_text("You stay host.")


MOVES = 5


@pytest.mark.needs("nginx", "openssl")
async def test_a_race_is_played_and_reviewed_through_nginx_while_nodes_are_killed(
    pages: Pages,
) -> None:
    pages.forgive("WebSocket connection")
    trusting: dict[str, Any] = {"ignore_https_errors": True}
    async with deployed() as deployment:
        address = deployment.proxy.url.replace("wss:", "https:")
        node, phone = deployment.nodes[0], {"has_touch": True, **trusting}
        async with racing(node, pages, "canfield", address=address, **phone) as player:
            assert await player.page.evaluate("isSecureContext")
            await player.race(player.tap_move, MOVES)
            for node in deployment.nodes:
                await node.kill()
                await player.race(player.tap_move, MOVES)
                await node.start()
        page = await pages.open(f"{address}/races/{player.board.race}", **trusting)
        await page.get_by_role("heading", name="Where they parted").wait_for()
        code = player.board.race.split("/")[0]
        drawn = await page.request.get(f"{address}/api/qr/{code}.svg")
        assert (drawn.status, drawn.headers["content-type"]) == (200, "image/svg+xml")
        await page.goto(f"{address}/leaderboards/canfield")
        await page.get_by_role("heading", name="Canfield: best results").wait_for()
        await pages.close()
