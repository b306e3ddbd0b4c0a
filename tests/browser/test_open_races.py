"""Open races on the page: the day's deal from the home to its result, and a challenge whose ghost is seen."""

import re

from playwright.async_api import Page, Route, WebSocketRoute, expect

from kit.altered_server import BRIEF_CHALLENGES
from kit.browser_pages import DESKTOP, Pages, look, page_url, serving_pages
from kit.page_player import PagePlayer, open_table, press
from kit.server_process import ServerProcess


async def shows_result(page: Page, player: PagePlayer) -> None:
    banked = player.board.banked
    await expect(page.get_by_role("heading", name=f"You banked {banked}")).to_be_focused()


async def test_the_days_deal_is_one_tap_away_survives_a_reload_and_is_compared(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(
        "about:blank", color_scheme="dark", has_touch=True, reduced_motion="reduce"
    )
    player = PagePlayer(page, "klondike")
    await page.goto(page_url(own_page_server))
    await expect(page.get_by_text("Today's Klondike · nobody has played yet")).to_be_visible()
    await press(page, "Play today's deal").click()
    await player.dealt()
    await player.race(player.tap_move, 4)
    await page.reload()
    await player.dealt()
    await player.shows_board()
    await player.race(player.tap_move, 4)
    await look(page, "day-run")
    await player.cash_out()
    await page.wait_for_url(re.compile("/day/klondike/"))
    await shows_result(page, player)
    await expect(page.get_by_text("The deal stays sealed until the day closes")).to_be_visible()
    await expect(page.get_by_text("new here, unranked")).to_be_visible()
    await look(page, "day-result-dark")
    await page.emulate_media(color_scheme="light")
    await look(page, "day-result-light")
    await page.reload()
    await expect(page.get_by_text("1 day in a row")).to_be_visible()
    await page.get_by_role("link", name="Saratoga").click()
    await expect(page.get_by_text(f"{player.board.banked} card")).to_be_visible()
    await page.get_by_role("link", name="See how you compare").click()
    await page.wait_for_url(re.compile("/day/klondike/"))


async def test_a_challenge_is_run_against_the_ghost_of_its_challenger_who_is_told(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    mine = await pages.open("about:blank", has_touch=True, reduced_motion="reduce")
    player = PagePlayer(mine, "klondike")
    await mine.goto(page_url(own_page_server))
    await mine.get_by_text("Challenge a friend").click()
    await press(mine, "New Klondike challenge").click()
    await expect(mine.get_by_role("heading", name="Your challenge")).to_be_focused()
    await expect(mine.get_by_text("I challenge you: Klondike")).to_be_visible()
    await look(mine, "own-challenge")
    link = mine.url
    await press(mine, "Start my run").click()
    await player.dealt()
    await player.cash_out()
    await shows_result(mine, player)
    await mine.get_by_role("link", name="Saratoga").click()
    await expect(press(mine, "Play today's deal")).to_be_visible()

    page = await pages.open("about:blank", DESKTOP, has_touch=True, reduced_motion="reduce")
    friend = PagePlayer(page, "klondike")
    await page.goto(link)
    await expect(page.get_by_role("heading", name="challenges you")).to_be_visible()
    await expect(page.get_by_text(re.compile("1 has played, open for [67] days"))).to_be_visible()
    await look(page, "challenge")
    await press(page, "Start my run").click()
    await friend.dealt()
    await expect(page.get_by_role("cell", name="'s ghost")).to_be_visible()
    await friend.race(friend.tap_move, 6)
    await look(page, "ghost")
    await friend.cash_out()
    await shows_result(page, friend)
    await expect(page.get_by_role("table", name="Results").get_by_role("row")).to_have_count(3)
    await look(page, "challenge-result")
    await mine.reload()
    told = mine.get_by_role("link", name=re.compile("ran your challenge: [0-9]+ card"))
    await look(mine, "home-news")
    await told.click()
    await expect(mine.get_by_role("table", name="Results").get_by_role("row")).to_have_count(3)
    await mine.get_by_role("link", name="Saratoga").click()
    await expect(press(mine, "Play today's deal")).to_be_visible()
    await expect(told).to_have_count(0)


async def look_each_second(route: Route) -> None:
    """Let the page look each second whether an open race has closed, in place of four times a minute."""
    fetched = await route.fetch()
    body = await fetched.text()
    assert "const LATER = 15_000;" in body
    await route.fulfill(response=fetched, body=body.replace("15_000", "1_000"))


async def test_the_deal_of_a_challenge_that_has_closed_is_checked_and_its_boards_are_open(
    pages: Pages,
) -> None:
    async with serving_pages(module=BRIEF_CHALLENGES) as server:
        page = await pages.open("about:blank", has_touch=True, reduced_motion="reduce")
        await page.route("**/open_results.js", look_each_second)
        player = PagePlayer(page, "klondike")
        await page.goto(page_url(server))
        await page.get_by_text("Challenge a friend").click()
        await press(page, "New Klondike challenge").click()
        await press(page, "Start my run").click()
        await player.dealt()
        await player.race(player.tap_move, 2)
        await player.cash_out()
        await shows_result(page, player)
        await page.get_by_text("Fair deal.").click()
        for words in (
            "The deal was fixed before the race began.",
            "The cards follow from this.",
            "These are the cards that you were dealt.",
            "Your moves stand in the record, each at its time.",
        ):
            await expect(page.get_by_text(words)).to_be_visible()
        await expect(page.get_by_text("This deal could have banked")).to_be_visible()
        await look(page, "challenge-closed")
        await page.get_by_role("link", name="See all boards").click()
        await page.get_by_role("region", name="Board of You").wait_for()
        await expect(page.get_by_text("Fair deal.")).to_be_visible()
        await expect(page.get_by_text("This deal could have banked")).to_be_visible()
        await page.reload()
        await page.get_by_role("region", name="Board of You").wait_for()
        await pages.close()


async def test_a_deal_just_raced_is_a_challenge_that_its_challenger_has_run(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open("about:blank", DESKTOP, reduced_motion="reduce")
    player = PagePlayer(page, "lafayette")
    await page.goto(page_url(page_server))
    code = await open_table(page)
    await press(page, "Start the race").click()
    await player.dealt()
    await player.cash_out()
    await press(page, "Challenge a friend on this deal").click()
    await page.wait_for_url(re.compile("/c/"))
    assert code not in page.url
    await shows_result(page, player)
    await expect(page.get_by_text("I challenge you: Lafayette")).to_be_visible()
    await look(page, "known-deal")


async def test_a_day_whose_promised_deal_changes_raises_the_alarm(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open("about:blank")
    is_lying = False

    def relay(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def told(frame: str | bytes) -> None:
            lie = r'\1"commitment":"' + "0" * 64
            text = re.sub(r'("days":.*?)"commitment":"[0-9a-f]{64}', lie, str(frame), count=1)
            route.send(text if is_lying else frame)

        server.on_message(told)

    await page.route_web_socket(re.compile("^ws:"), relay)
    await page.goto(page_url(page_server))
    played = page.get_by_text(re.compile("Today's Klondike .* played"))
    await expect(played).to_be_visible()
    is_lying = True
    await page.reload()
    await expect(page.get_by_role("dialog", name="ALARM")).to_contain_text(
        "another deal is promised"
    )
