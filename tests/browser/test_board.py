"""The board on the page: gestures and keys on it."""

import re
from typing import Final

from playwright.async_api import expect

from kit.browser_pages import DESKTOP, Pages, check_accessible, race_snapshot, shown_race
from kit.page_player import PagePlayer, racing
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


async def test_a_long_press_spells_a_column_out_and_two_taps_bank_its_top_card(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "lady-palk", has_touch=True, pace=1, finishes=False
    ) as player:
        x, y = await player.middle("t1")
        touch = await player.page.context.new_cdp_session(player.page)
        points = [{"x": x, "y": y}]
        await touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
        await player.page.get_by_text("Column 1: ").wait_for()
        await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await player.page.get_by_text("Column 1: ").wait_for(state="detached")
        assert await player.page.locator("[aria-pressed=true]").count() == 0

        bank = await until_one_can_be_banked(player)
        await player.tap(bank.source)
        await player.answered(player.tap(bank.source))
        assert player.notes.acknowledged[-1].text == str(bank)


async def test_a_refused_target_is_explained_by_the_server_and_changes_nothing(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "caprice", pace=1, finishes=False) as player:
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
    ) as player:
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
        assert not player.notes.denied


async def test_a_mouse_released_beside_the_board_swallows_no_click(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "lafayette", size=DESKTOP)
    # its left edge is that of all columns
    column = page.locator("[data-pile=t1]")
    box = await column.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 1, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] - 2, box["y"] + 20)
    await page.mouse.up()
    await column.click(position={"x": 20, "y": 20})
    await expect(column).to_have_attribute("aria-pressed", "true")


async def test_a_second_slash_opens_no_second_finder(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike")
    for _ in range(2):
        await page.evaluate("shown.key(new KeyboardEvent('keydown', {key: '/'}))")
    await expect(page.locator(".finder")).to_have_count(1)
    await expect(page.locator(".finder input")).to_be_focused()


async def test_every_card_of_a_column_is_in_its_label_and_spelled_by_a_key(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "lady-palk")
    columns = race_snapshot("lady-palk")["board"]["view"]["columns"]
    ranks = dict(zip("AJQKT", ("ace", "jack", "queen", "king", "10"), strict=True))
    suits = dict(zip("CSHD", ("clubs", "spades", "hearts", "diamonds"), strict=True))
    for number, column in enumerate(columns, 1):
        cards = [column[at : at + 2] for at in range(0, len(column), 2)]
        names = [f"{ranks.get(rank, rank)} of {suits[suit]}" for rank, suit in cards]
        label = await page.locator(f"[data-pile=t{number}]").get_attribute("aria-label")
        assert label is not None
        assert label.endswith("; below it " + ", ".join(names[-2::-1])) == (len(names) > 1)
        await page.locator(f"[data-pile=t{number}]").focus()
        await page.evaluate("shown.key(new KeyboardEvent('keydown', {key: 's'}))")
        # the signs for the eye, the names for the ear
        said = await page.locator(".say [role=status] .unseen").all_text_contents()
        assert said == names


CHANGED: Final = """async ([flight, waste]) => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "session.js"));
    const {state} = shown.app;
    const {race, count, banked, net, legal, view} = state.own;
    const board = {race, count: count + 1, banked, net, legal, state: "racing", view: {...view, waste: view.waste + waste}};
    shown.app.state = flight ? page.withMove(state, flight) : page.confirmed(state, board);
    shown.show(shown.app.state);
}"""
"""A function that shows a move on its way, or else a board with more cards on the waste."""


async def test_a_pick_and_taps_on_cards_that_are_covered_since_are_dropped(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike", size=DESKTOP)
    stock, waste = (page.locator(f"[data-pile={pile}]") for pile in ("stock", "w"))
    picked = page.locator("[aria-pressed=true]")
    await page.evaluate(CHANGED, ["draw", ""])
    await expect(stock).to_have_class(re.compile("asked"))
    # the page would throw if it played: no app takes moves here
    await waste.click()
    await expect(picked).to_have_attribute("data-pile", "w")
    for column in range(1, 8):
        await page.locator(f"[data-pile=t{column}]").click()
    await page.evaluate(CHANGED, ["", "9H"])
    await expect(page.get_by_text("The cards have changed: choose again.")).to_be_visible()
    await expect(picked).to_have_count(0)
    await expect(stock).not_to_have_class(re.compile("asked"))


PLAYED: Final = """change => {
    const {state} = shown.app;
    window.played = [];
    shown.app.play = move => {
        played.push(move);
        // the judge's answer: the card is banked, and the next ones are legal
        const {view} = state.own;
        const column = Number(move[1]) - 1;
        view.columns[column] = view.columns[column].slice(0, -2);
        state.own.legal = view.columns.flatMap((cards, at) => cards ? [`t${at + 1}>up`] : []);
        shown.app.state = {...state, own: {...state.own}};
        setTimeout(() => shown.show(shown.app.state));
    };
    Object.assign(state.own.view, change.view);
    Object.assign(state.own, {shown: state.own.view, legal: change.legal});
    Object.assign(state.table, change.table);
    shown.show({...state, own: {...state.own}});
    shown.tick();
}"""
"""A function that changes the board that a test shows, and notes the moves as `played`."""

OPEN: Final = {
    "stock": 0,
    "waste": "",
    "face_down": [0] * 7,
    "up": [11, 11, 11, 12],
    "columns": ["KCQH", "KS", "KHQS", "KD", "", "", "QC"],
}
"""Cards of Klondike that all lie open."""


async def test_a_board_that_banks_alone_win_is_finished_when_asked(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike")
    finish = page.get_by_role("button", name="Finish")
    legal = ["t2>up", "t3>up", "t4>up", "t1>up", "t7>up"]
    for covered in ({"face_down": [1, *[0] * 6]}, {"stock": 1}, {"columns": ["QHKC", *[""] * 6]}):
        await page.evaluate(PLAYED, {"view": {**OPEN, **covered}, "legal": legal})
        await expect(finish).to_have_count(0)
    await page.evaluate(PLAYED, {"view": OPEN, "legal": ["t1>up", "t3>up", "t4>up", "t7>up"]})
    await finish.click()
    await page.wait_for_function("() => played.length === 7")
    assert await page.evaluate("played[0]") == "t1>up"


async def test_a_question_of_the_others_stays_until_it_is_answered(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike")
    await page.evaluate(PLAYED, {"legal": [], "table": {"votes": ["b" * 16]}})
    await page.locator("[data-pile=t1]").click()
    await expect(page.get_by_text("Racer b wants to end the race now.")).to_be_visible()
    await check_accessible(page)
    await page.get_by_role("button", name="Play on").click()
    await expect(page.locator(".notice")).to_be_empty()
    await page.evaluate(PLAYED, {"legal": [], "table": {"votes": ["b" * 16, "c" * 16]}})
    await expect(page.get_by_text("Racer c wants to end the race now.")).to_be_visible()


async def test_large_cards_have_pips_and_two_indices_and_every_court_a_face(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike", size=DESKTOP)
    card = page.locator(".found .card").first
    faces = {}
    for rank in "AJQK9":
        await page.evaluate(PLAYED, {"view": {"columns": [f"{rank}S"]}, "legal": []})
        top = page.locator("[data-pile=t1] .card").last
        uses = await top.locator(".large use").evaluate_all(
            "uses => uses.map(use => use.getAttribute('href'))"
        )
        faces[rank] = uses[0]
        assert f"#r{rank}" in uses
        assert (uses.count("#s") == 10) == (rank == "9"), "nine pips, and one of the index"
    assert len({faces[rank] for rank in "JQK"}) == 3
    await expect(card.locator(".large")).to_be_visible()
    await page.set_viewport_size({"width": 360, "height": 640})
    await expect(card.locator(".large")).to_be_hidden()
    await expect(card.locator(".small")).to_be_visible()


async def test_quick_moves_play_at_the_first_tap(page_server: ServerProcess, pages: Pages) -> None:
    page = await shown_race(pages, page_server, "klondike")
    await page.evaluate(PLAYED, {"view": OPEN, "legal": ["t1>up"]})
    await page.evaluate("localStorage.setItem('saratoga.look', JSON.stringify({quick: 'on'}))")
    await page.locator("[data-pile=t1]").click()
    assert await page.evaluate("played") == ["t1>up"]
