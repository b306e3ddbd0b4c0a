"""Gestures on the board: double taps, long presses, drags that end nowhere, keys that leave the board."""

import re

from kit.browser_pages import DESKTOP, Pages, look, page_url
from kit.faulty_link import link_to_ports
from kit.page_player import SHOWS, PagePlayer, racing
from kit.server_process import ServerProcess
from saratoga_rules.moves import Carry, parse_move


def banks(player: PagePlayer) -> list[Carry]:
    moves = map(parse_move, player.board.legal or [])
    return [move for move in moves if isinstance(move, Carry) and move.destination < 0]


async def until_one_can_be_banked(player: PagePlayer) -> Carry:
    """Move until exactly one foundation takes a card of some pile; return that move."""
    while True:
        sources = [move.source for move in banks(player)]
        single = [move for move in banks(player) if sources.count(move.source) == 1]
        if single:
            return single[0]
        await player.race(player.tap_move, 1)


async def test_two_taps_on_a_pile_bank_its_top_card(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "lafayette", has_touch=True, pace=1, finishes=False) as (
        player,
        _,
    ):
        bank = await until_one_can_be_banked(player)
        await player.tap(bank.source)
        await player.answered(player.tap(bank.source))
        assert player.notes.acknowledged[-1].text == str(bank)


async def test_a_refused_target_is_explained_by_the_server_and_changes_nothing(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "caprice", pace=1, finishes=False) as (player, _):
        legal = {(move.source, move.target) for move in await player.carries()}
        source = next(iter(legal))[0]
        targets = (f"t{number}" for number in range(1, 13))
        keys = "1234567890-="
        target = next(t for t in targets if t != source and (source, t) not in legal)
        await player.page.keyboard.press(keys[int(source[1:]) - 1])
        await player.page.keyboard.press(keys[int(target[1:]) - 1])
        await player.until(lambda: bool(player.notes.refusals))
        assert player.notes.refusals[-1].code == "illegal_move"
        await player.shows_board()
        reason = re.compile(f"to column {target[1:]}: [a-z ]+ cannot [a-z ]+\\.$")
        await player.page.locator(".say [role=status]").filter(has_text=reason).wait_for()


async def test_a_drag_that_ends_nowhere_or_is_crossed_by_a_second_finger_changes_nothing(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "lady-palk", pace=1, finishes=False, size=DESKTOP, has_touch=True
    ) as (player, _):
        mouse, page = player.page.mouse, player.page
        move = (await player.carries())[0]
        made = len(player.notes.acknowledged)
        x, y = await player.middle(move.source)
        await mouse.move(x, y)
        await mouse.down()
        await mouse.move(x, y + 40)
        await page.locator(".dragged .card").first.wait_for()
        await mouse.up()
        await page.locator(".dragged").wait_for(state="detached")
        await player.shows_board()
        await mouse.move(x, y)
        await mouse.down()
        await mouse.move(x, y + 40)
        await page.locator(".dragged .card").first.wait_for()
        await page.evaluate("dispatchEvent(new Event('orientationchange'))")
        await page.locator(".dragged").wait_for(state="detached")
        await mouse.up()

        touch = await page.context.new_cdp_session(page)
        second = dict(zip("xy", await player.middle("stock"), strict=True))
        for kind, points in (
            ("touchStart", [{"x": x, "y": y}]),
            ("touchMove", [{"x": x, "y": y + 40}]),
        ):
            await touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await page.locator(".dragged .card").first.wait_for()
        both = [{"x": x, "y": y + 40, "id": 0}, {**second, "id": 1}]
        await touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": both})
        await page.locator(".dragged").wait_for(state="detached")
        await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await player.shows_board()
        assert len(player.notes.acknowledged) == made
        assert not player.notes.refusals


async def test_a_long_press_spells_the_column_out(page_server: ServerProcess, pages: Pages) -> None:
    async with racing(page_server, pages, "lady-palk", has_touch=True, pace=1, finishes=False) as (
        player,
        _,
    ):
        x, y = await player.middle("t1")
        touch = await player.page.context.new_cdp_session(player.page)
        points = [{"x": x, "y": y}]
        await touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
        await player.page.get_by_text("Column 1: ").wait_for()
        await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await player.page.get_by_text("Column 1: ").wait_for(state="detached")
        assert await player.page.locator("[aria-pressed=true]").count() == 0


async def test_tab_walks_moves_on_the_board_and_f6_leaves_it(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "lafayette", pace=1, finishes=False, size=DESKTOP) as (
        player,
        _,
    ):
        page = player.page
        await page.keyboard.press("Tab")
        await page.get_by_text("1 of ").wait_for()
        await player.answered(page.keyboard.press("Enter"))
        await page.keyboard.press("F6")
        menu = page.get_by_role("button", name="Standings and menu")
        assert await menu.evaluate("each => each === document.activeElement")
        await page.keyboard.press("Enter")
        await page.get_by_role("dialog").wait_for()
        await page.keyboard.press("Escape")
        await page.keyboard.press("F6")
        assert await page.evaluate("Boolean(document.activeElement.dataset.pile)")


async def test_a_question_mark_shows_the_keys_and_with_them_the_way_off_the_board(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "canfield", pace=1, finishes=False, size=DESKTOP) as (
        player,
        _,
    ):
        page = player.page
        await page.keyboard.press("?")
        await page.get_by_text("Keys in a race").click()
        await page.get_by_text("leave the board for the rest of the page").wait_for()
        await look(page, "sheet-keys")


async def test_a_reloaded_page_shows_the_board_as_it_was(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "canfield-aisleriot", has_touch=True) as (player, _):
        await player.race(player.tap_move, 4)
        await player.page.reload()
        await player.shows_board()
        await player.race(player.tap_move, 4)


async def test_a_carry_is_shown_before_its_answer(page_server: ServerProcess, pages: Pages) -> None:
    pages.forgive("WebSocket connection")
    async with (
        link_to_ports(page_server.port) as link,
        racing(page_server, pages, "lady-palk", link=link, has_touch=True) as (player, _),
    ):
        move = (await player.carries())[0]
        view, made = player.board.view, len(player.notes.acknowledged)
        await player.tap(move.source)
        link.go_half_open()
        await player.tap_target(move)
        cards = view.columns[move.origin][-2 * move.count :]
        shown = {move.target: view.columns[move.destination] + cards}
        await player.page.wait_for_function(SHOWS, arg=shown)
        assert len(player.notes.acknowledged) == made
        link.cut()
        await player.until(lambda: len(player.notes.acknowledged) > made)
        await player.shows_board()


CORRECTED = """async ([own, move, board]) => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "session.js"));
    const ahead = page.withMove({player: "m", table: {}, own}, move);
    const back = page.takenBack(ahead, "No.", board);
    return [ahead, back].map(({own: {shown, banked, net, takenBack}}) => [shown.columns, shown.up, banked, net, takenBack]);
}"""


async def test_a_move_that_the_server_refuses_is_taken_back_with_the_reason(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    view = {"columns": ["AS2D", "3S"], "up": [0, 0, 0, 0], "down": [], "base": 2, "face_down": []}
    own = {"race": "r", "count": 3, "view": view, "shown": view, "banked": 4, "net": -32}
    own |= {"state": "racing", "legal": ["t1>up", "t1>t2"], "trail": [view]}
    board = {key: own[key] for key in ("race", "count", "view", "banked", "net", "state", "legal")}
    as_before = [["AS2D", "3S"], [0, 0, 0, 0], 4, -32, "No."]
    for sent in (None, board):
        assert await page.evaluate(CORRECTED, [own, "t1>up", sent]) == [
            [["AS", "3S"], [0, 0, 0, 1], 5, -27, ""],
            as_before,
        ]
        assert await page.evaluate(CORRECTED, [own, "t1>t2", sent]) == [
            [["AS", "3S2D"], [0, 0, 0, 0], 4, -32, ""],
            as_before,
        ]
