"""The screens of a race in every size and theme, the look that a player chooses, and the focus from screen to screen."""

import asyncio
import re
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Final

import pytest
from playwright.async_api import Page, Route, expect

from kit.browser_pages import (
    DESKTOP,
    PHONE,
    PHONE_ON_ITS_SIDE,
    Pages,
    check_accessible,
    look,
    open_for_races,
    page_url,
    race_snapshot,
    serving_pages,
    shown_race,
    take_screenshot,
)
from kit.page_player import (
    BRISK,
    RESULT,
    PagePlayer,
    open_table,
    press,
    racing,
    rival_at,
    seat_of,
    sit_down,
)
from kit.players import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, JoinTable, Start
from saratoga_rules.games import GAMES

THEMES = ("felt", "paper", "contrast")


@pytest.mark.parametrize("game", GAMES)
async def test_the_race_fits_every_size(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    race = race_snapshot(game)
    page = await shown_race(pages, page_server, game, reduced_motion="reduce")
    sources = [move.partition(">")[0] for move in race["board"]["legal"] if ">" in move]
    if sources:
        await page.locator(f'.pile[data-pile="{sources[-1]}"]').click()
        await page.locator(".pile.lit").first.wait_for()
    await look(page, f"race-{game}")
    # two games in each theme
    theme = THEMES[list(GAMES).index(game) % len(THEMES)]
    await page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    await check_accessible(page)
    await take_screenshot(page, f"race-{game}-{theme}")


ENDINGS: Final = (
    ("stuck", "No more cards can be banked", "your board is complete, 9 banked"),
    ("won", "You have won!", "All 9 cards are banked."),
    ("out-of-time", "Time is up", "9 banked. All of it counts."),
    ("idle", "Your board ended after 3 minutes without a sign of you", "Your seat is kept"),
)


async def test_the_end_of_a_board_is_said_kindly_with_two_ways_on(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await open_for_races(pages, page_server, reduced_motion="reduce")
    race = race_snapshot("caprice")
    for state, heading, sentence in ENDINGS:
        race["board"] |= {"state": state, "legal": []}
        await page.evaluate("race => showRace(race)", race)
        sheet = page.get_by_role("dialog", name=heading)
        await sheet.get_by_text(sentence).wait_for()
        await sheet.get_by_text("4 are still racing.").wait_for()
        if state == "idle":  # which says most
            await look(page, "sheet-idle")
        await take_screenshot(page, f"sheet-{state}")
        buttons = await sheet.get_by_role("button").all_inner_texts()
        assert buttons == ["See my board", "Watch the race"]
        await press(page, "See my board").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_sheets_of_a_race_fit_every_size(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "canfield", has_touch=True, pace=0.1, finishes=False
    ) as player:
        page = player.page
        await page.get_by_role("button", name="Standings and menu").click()
        await look(page, "sheet-menu")
        await page.get_by_role("button", name="Rules, look").click()
        await look(page, "sheet-look")
        await page.get_by_role("button", name="Back").click()
        await page.keyboard.press("x")
        await look(page, "sheet-cash-out")
        await page.get_by_role("button", name="Cash out").last.click()
        await page.get_by_role("button", name="See my board").wait_for()
        await look(page, "sheet-ended")
        await page.get_by_role("button", name="Watch the race").last.click()
        await page.locator("main .standings").wait_for()
        await look(page, "watch")


CHART: Final = """async count => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "race.js"));
    const standings = Array.from({length: count}, (_, at) => ({player: `${at}`, place: 1, banked: 1, net: -45, state: "racing"}));
    const rows = standings.map(row => ({...row, name: `Racer ${row.player}`, bot: false, level: ""}));
    const state = {player: `${count - 1}`, standings, labels: Object.fromEntries(rows.map(row => [row.player, row])),
        outcome: null, own: null, history: {}, table: {phase: "running", host: "0", last_racer: "1", end_from: 60_200}};
    const texts = [...page.climbChart(state, rows, 0, 300, 104).querySelectorAll("text[x='241']")];
    return [texts.map(text => text.textContent), texts.map(text => Number(text.getAttribute("y")))];
}"""
"""A function that returns the names, and their heights, in the chart of a race at its first moment."""


async def test_the_chart_names_every_line_though_all_are_level(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    for count in (2, 7, 16):
        drawn, places = await page.evaluate(CHART, count)
        assert drawn[-1] == "You 1"
        assert len(drawn) == min(count, 7)
        assert min(places) >= 12
        assert max(places) <= 96
        assert all(below - above >= 12 for above, below in pairwise(places))


async def test_cards_can_be_read_in_the_systems_dark_high_contrast(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike")
    await page.emulate_media(forced_colors="active", color_scheme="dark")
    ink, face = await page.locator(".pile .card:not(.back)").first.evaluate(
        "card => [getComputedStyle(card).color, getComputedStyle(card, '::before').backgroundColor]"
    )
    dark, light = ([int(part) for part in re.findall(r"[0-9]+", it)] for it in (ink, face))
    assert min(dark) < 100
    assert min(light) > 200
    await take_screenshot(page, "race-forced-colours")


async def test_a_browser_without_the_newest_colours_shows_sheets_and_targets(
    page_server: ServerProcess, pages: Pages
) -> None:
    def older(style: str) -> str:
        return style.replace("light-dark(", "not-yet-known(")

    async def answer(route: Route) -> None:
        fetched = await route.fetch()
        await route.fulfill(response=fetched, body=older(await fetched.text()))

    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="klondike")).table.code
        page = await pages.open("about:blank")
        await page.route("**/page.css", answer)
        await page.goto(page_url(page_server, f"/{code}"))
        await sit_down(page, "Mira")
        await page.get_by_role("button", name="Leave the table").click()
        await check_accessible(page)
        see_through = "rgba(0, 0, 0, 0)"
        for part in (page.locator("dialog"), page.locator("body")):
            assert (
                await part.evaluate("each => getComputedStyle(each).backgroundColor") != see_through
            )
        await take_screenshot(page, "older-browser")


THEME = "document.documentElement.dataset.theme ?? ''"


async def ink(page: Page, suit: str) -> str:
    """Return the colour in which the board draws a suit."""
    card = page.locator(f".pile .card.{suit}").first
    return str(await card.evaluate("card => getComputedStyle(card).color"))


async def left_edge(page: Page, part: str) -> float:
    """Return where a part of the board begins, in pixels from the left."""
    box = await page.locator(part).first.bounding_box()
    assert box is not None
    return float(box["x"])


async def test_hand_and_colours_of_suits_are_chosen_and_kept(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "lady-palk", pace=1, finishes=False, size=PHONE_ON_ITS_SIDE
    ) as player:
        page = player.page
        assert await ink(page, "h") == await ink(page, "d")
        assert await left_edge(page, ".hand") > await left_edge(page, ".cols")
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog")
        await sheet.get_by_label("Suits of Lady Palk").select_option("four colours")
        await sheet.get_by_label("Hand").select_option("left")
        await sheet.get_by_role("button", name="Back").click()
        for _ in range(2):
            assert len({await ink(page, suit) for suit in "shdc"}) == 4
            assert await left_edge(page, ".hand") < await left_edge(page, ".cols")
            await page.reload()
            await page.locator(".race .pile").first.wait_for()
            # the line goes on from the start of the race
            line = page.locator(".side .chart path.me")
            await expect(line).to_have_attribute("d", re.compile("^M[0-9]{2} "))
        await look(page, "race-left-hand")


async def test_high_contrast_follows_the_system_as_long_as_no_colours_are_chosen(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), contrast="more")
    assert await page.evaluate(THEME) == "contrast"
    await page.emulate_media(contrast="no-preference")
    # a function: an expression is evaluated again at each frame, which the page's policy forbids
    await page.wait_for_function(f"() => ({THEME}) === ''")
    await page.get_by_role("heading", name="Race your friends").focus()
    await page.keyboard.press("t")
    assert await page.evaluate(THEME) == "felt"
    await page.reload()
    assert await page.evaluate(THEME) == "felt"


async def carry_cards(player: PagePlayer) -> None:
    """Make moves until one has carried cards."""
    while not any(">" in made.text for made in player.notes.acknowledged):
        await player.race(player.type_move, 1)
    player.notes.acknowledged.clear()


async def test_cards_move_only_if_the_system_wants_motion(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "lady-palk", pace=1, finishes=False) as player:
        page = player.page
        await page.evaluate(
            "void (Element.prototype.animate = () => ({ moved: document.body.dataset.moved = '', finish() {} }))"
        )
        await carry_cards(player)
        assert await page.evaluate("'moved' in document.body.dataset") is False
        await page.emulate_media(reduced_motion="no-preference")
        await carry_cards(player)
        assert await page.evaluate("'moved' in document.body.dataset") is True


async def said(player: PagePlayer, sentence: str) -> None:
    await player.page.locator(".say [role=status]").get_by_text(re.compile(sentence)).wait_for()


async def test_the_terminals_keys_do_in_a_race_what_they_do_there(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "klondike", pace=1, finishes=False, size=DESKTOP
    ) as player:
        page, press = player.page, player.page.keyboard.press
        await press("o")
        await said(player, "Quick on")
        await press("o")
        await said(player, "Quick off")
        for key in "+-":
            await press(key)
            await said(player, "pick a pile first")
        await press("b")
        await said(player, "No card can be taken back")
        await press("Tab")
        await said(player, "^1 of ")
        await press("Shift+Tab")
        await said(player, "^([0-9]+) of \\1:")
        await press("Escape")
        await said(player, "Selection cleared")
        await press("f")
        await said(player, "No card can be banked|Bank which|banked")
        await press("Escape")

        await press("/")
        await page.keyboard.type("k")
        await expect(page.locator(".finder [role=status]")).to_have_text(re.compile("[0-9] card"))
        assert await page.locator(".card.sought:not([data-card^=K])").count() == 0
        await press("Escape")
        await expect(page.locator(".sought")).to_have_count(0)

        assert await page.locator(".race").get_attribute("data-suits") == "2"
        await press("c")
        assert await page.locator(".race").get_attribute("data-suits") == "4"
        await press("t")
        await said(player, "Colours: dark")
        await press("p")
        await page.get_by_role("dialog", name="Klondike").wait_for()
        await press("Escape")
        await press("e")
        await said(player, "Nobody has asked to end the race")
        await press("q")
        await page.get_by_role("dialog", name="Leave the table?").wait_for()
        await press("n")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await take_screenshot(page, "race-keys")
        # the way off the board, which the keys' own page tells
        await press("F6")
        menu = page.get_by_role("button", name="Standings and menu")
        await expect(menu).to_be_focused()
        await press("Enter")
        await page.get_by_role("dialog").wait_for()
        await press("Escape")
        await press("F6")
        assert await page.evaluate("Boolean(document.activeElement.dataset.pile)")
        await press("Tab")
        await player.answered(press("Enter"))
        await press("?")
        await page.get_by_text("Keys in a race").click()
        await page.get_by_text("leave the board for the rest of the page").wait_for()
        await look(page, "sheet-keys")


async def test_single_keys_do_nothing_once_they_are_switched_off(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), DESKTOP)
    await open_table(page)
    status = page.get_by_role("status")
    await page.keyboard.press("?")
    await page.get_by_label("Single keys").select_option("off")
    await page.get_by_role("button", name="Back").click()
    told = await status.text_content()
    await page.get_by_role("button", name="Leave the table").focus()
    for key in ("y", "t", "r", "Enter", "y", "Escape"):
        await page.keyboard.press(key)
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(status).to_have_text(told or "")
    await expect(seat_of(page, "Mira")).to_contain_text("not ready")


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
        await expect(page.get_by_label("What shall we call you?")).to_be_focused()
        await keys.type("Mira")
        await keys.press("Enter")
        await expect(page.get_by_role("heading", name="Rival's table")).to_be_focused()
        await keys.press("r")
        await expect(page.get_by_role("heading", name="one deal for both")).to_be_focused()
        await expect(page.get_by_text("The race starts in ")).to_have_role("status")
        assert await page.locator("[aria-live=assertive]").count() == 0
        await expect(page.locator(".countdown, main").first).to_contain_text("Rival")
        await check_accessible(page)
        await take_screenshot(page, "countdown")
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
        await sit_down(page, "Mira")
        await expect(seat_of(page, "Mira (you)")).to_be_visible()
        await anna.ready()
        await anna.ask(Start, table=code)
        await press(page, "Ready").focus()
        await page.keyboard.press("Enter")
        await expect(press(page, "Not ready")).to_be_focused()
        await pages.close()


async def test_wide_names_leave_room_for_the_figures_and_a_press_survives_a_change_of_them(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), DESKTOP)
    code = await open_table(page, game="Canfield")
    async with AsyncExitStack() as here:
        rivals = [await here.enter_async_context(player_at(page_server.url, name)) for name in WIDE]
        for rival in rivals:
            await rival.at_table(JoinTable, table=code)
            await rival.ready()
        await expect(page.locator(".seats .ready")).to_have_count(len(rivals))
        # the click may return after the countdown has ended
        await asyncio.gather(
            press(page, "Start the race").click(), *(rival.reveal() for rival in rivals)
        )
        await page.locator(".race .pile").first.wait_for()
        # what is to be seen only by scrolling sideways
        hidden_width = "part => part.scrollWidth - part.clientWidth"
        assert await page.locator(".side").evaluate(hidden_width) == 0
        await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        await page.get_by_role("button", name="Standings and menu").click()
        assert await page.get_by_role("dialog").evaluate(hidden_width) == 0
        watcher = await pages.open(page.url)
        await press(watcher, "I'd rather watch").click()
        await watcher.locator("main .standings").wait_for()
        await look(watcher, "watch-wide-names")

        await page.keyboard.press("Escape")
        await page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
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


async def test_the_operators_announcement_is_shown_at_the_table_and_at_home(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    lobby, page = [await pages.open(page_url(own_page_server)) for _ in range(2)]
    code = await open_table(page)
    guest = await pages.open(page_url(own_page_server, f"/{code}"))
    await expect(guest.get_by_label("What shall we call you?")).to_be_visible()
    await expect(lobby.get_by_text("None now")).to_be_visible()
    await own_page_server.admin("announce", "The server restarts at ten.")
    for each in (page, lobby, guest):
        await expect(each.get_by_role("status").get_by_text("at ten.")).to_be_visible()
