"""Clicks and drags, selections and scenes."""

import pytest

from kit.positions import draw
from saratoga_client.input.mouse import FACE_DOWN, Click, click, drop
from saratoga_client.input.move_text import ascii_card_name
from saratoga_client.input.scene import Scene, scene_of, why_not
from saratoga_client.input.selection import NO_SELECTION, InputResult, Selection
from saratoga_rules.games import GAMES
from saratoga_rules.position import redact

BOARD = """
    stock: 2C 3C
    waste: 5D
    reserve: 4S JH
    t1: 9C 7S
    t2: 8H
    t3: QS
    t4: AS
    up: C1
"""
RUNS = "t1: 2C KS QH JS TD\nt2: JC\nt4: 4S 3D\nt5: JD\nt6: QC"
BACK = "up: S4 H3\nt1: 5D\nt2: 4C\nt3: 9H\nt4: 9D"
TURNED = "t1: 2C 5C | 9H\nt2: 3C | TS\nt3: 4C | AC\nt4: TC"
SINGLE, DOUBLE, RIGHT = Click


def clicked(
    name: str, picture: str, *clicks: tuple[str, int, Click], selection: Selection = NO_SELECTION
) -> InputResult:
    """Return the result of the last click; the clicks before it play no move."""
    scene = scene_of(GAMES[name], redact(draw(GAMES[name], picture)))
    result = InputResult(selection, "")
    for pile, count, kind in clicks:
        assert result.move is None, f"played before {pile}"
        result = click(scene, result.selection, pile, count, kind)
    return result


def dropped(name: str, picture: str, source: str, count: int, target: str) -> InputResult:
    scene = scene_of(GAMES[name], redact(draw(GAMES[name], picture)))
    return drop(scene, Selection(picked="t1", quick=True), source, count, target)


def played(result: InputResult) -> str | None:
    return None if result.move is None else str(result.move)


@pytest.mark.parametrize(
    ("name", "picture", "clicks", "says", "picked"),
    [
        ("lafayette", "t1: AS\nt2: 2H", [("t1", 1, SINGLE)], "A♠ from column 1: press f or 2; esc drops.", "t1"),
        ("lafayette", "t1: AS\nt2: 2H", [("t1", 1, SINGLE), ("t1", 1, SINGLE)], "Back in column 1.", None),
        ("lafayette", BOARD, [("t1", 2, SINGLE)], "You can carry one card. 7♠ from column 1: press 2; esc drops.", "t1"),
        ("lafayette", "t1: 5H 9H", [("t2", 0, SINGLE)], "Column 2 is empty. It takes anything that may be carried.", None),
        ("lafayette", "t1: 5H 9H", [("w", 0, SINGLE)], "The waste is empty.", None),
        ("lafayette", "t1: 5H 9H", [("stock", 0, SINGLE)], "The stock is empty. There is no waste to turn over.", None),
        ("lafayette", "t1: 5H 9H", [("up.S", 1, SINGLE)], "In this game a card on a foundation stays there.", None),
        ("lafayette", "t1: 9H 5S\nt2: 8H\nwaste: 9D", [("t1", 1, SINGLE), ("w", 1, SINGLE)], "9♦ from the waste: press 3 or 4; esc drops.", "w"),
        ("lafayette", "t1: 9H 5S\nt2: 8H", [("t1", 1, SINGLE), ("r", 0, SINGLE)], "Cards cannot be moved onto the reserve.", "t1"),
        ("lafayette", "t1: 7S\nup: S6\ndown: S6", [("t1", 1, RIGHT)], "7♠ from column 1: press f or g; esc drops.", "t1"),
        ("canfield-aisleriot", BACK, [("up.S", 1, RIGHT)], "That card lies on its foundation already.", None),
        ("canfield-aisleriot", BACK, [("up.S", 1, SINGLE)], "4♠ from its foundation: press 1; esc drops.", "up.S"),
        ("canfield-aisleriot", BACK, [("up.S", 1, SINGLE), ("up.S", 1, SINGLE)], "Back in the foundations.", None),
        ("canfield-aisleriot", BACK, [("up.C", 0, SINGLE)], "There is no card to move.", None),
        ("canfield-aisleriot", "up: S1", [("up.S", 1, SINGLE)], "The first card of a foundation stays there.", None),
        ("lady-palk", "t1: 9C 5H", [("t1", 2, SINGLE)], "5♥, column 1: no place to go now.", None),
        ("canfield", "t1: 5H 4S", [("t1", 1, SINGLE)], "4♠, column 1: no place to go now.", None),
        ("klondike", TURNED, [("t1", 2, SINGLE)], FACE_DOWN, None),
        ("klondike", TURNED, [("t1", 3, DOUBLE)], FACE_DOWN, None),
        ("klondike", TURNED, [("t3", 2, RIGHT)], FACE_DOWN, None),
        ("klondike", TURNED, [("t1", 1, SINGLE), ("t3", 2, RIGHT)], FACE_DOWN, "t1"),
        ("klondike", TURNED, [("t1", 1, SINGLE), ("t1", 2, SINGLE)], "Back in column 1.", None),
        ("klondike", TURNED, [("t1", 1, SINGLE), ("t3", 2, SINGLE)], "9♥ to column 3: columns build down in alternating colours.", "t1"),
    ],
)  # fmt: skip
def test_a_click_that_plays_no_move_gets_an_answer(
    name: str, picture: str, clicks: list[tuple[str, int, Click]], says: str, picked: str | None
) -> None:
    result = clicked(name, picture, *clicks)
    assert result.move is None
    assert result.says == says
    assert result.selection.picked == picked


def test_the_second_half_of_a_double_click_plays_nothing_more() -> None:
    game = GAMES["lafayette"]
    first = clicked("lafayette", "t1: 2S AS", ("t1", 1, SINGLE))
    assert played(first) is None, "it may also go into a space"
    first = clicked("lafayette", "t1: 2S AS\nt2: 9H\nt3: 9D\nt4: 9C", ("t1", 1, SINGLE))
    assert played(first) == "t1>up"
    after = scene_of(game, redact(draw(game, "t1: 2S\nt2: 9H\nt3: 9D\nt4: 9C\nup: S1")))
    for _ in range(2):
        second = click(after, first.selection, "t1", 1, Click.DOUBLE)
        assert second.move is None
        assert second.says == "The first click has played this move already."
        first = second
    elsewhere = click(after, first.selection, "t2", 1, Click.SINGLE)
    assert played(click(after, elsewhere.selection, "t1", 1, Click.DOUBLE)) == "t1>up"


@pytest.mark.parametrize(
    ("name", "picture", "carried", "says"),
    [
        ("canfield", "t1: 5H 4S\nt2: 5D", ("t1", 1, "t2"), "4♠ to column 2: you can carry the whole pile, and only as a whole."),
        ("lafayette", BOARD, ("t1", 1, "stock"), "Cards cannot be moved onto the stock."),
        ("lady-palk", RUNS, ("t1", 2, "up.S"), "J♠ to the foundations: only one card at a time can move like that."),
        ("lady-palk", RUNS, ("t1", 9, "t2"), "Column 1 to column 2: the pile does not hold so many cards."),
    ],
)  # fmt: skip
def test_a_drop_that_is_refused_says_why(
    name: str, picture: str, carried: tuple[str, int, str], says: str
) -> None:
    result = dropped(name, picture, *carried)
    assert result.move is None
    assert result.says == says
    assert result.selection == Selection(quick=True)


def scene_from(name: str, picture: str) -> Scene:
    return scene_of(GAMES[name], redact(draw(GAMES[name], picture)), ascii_card_name)


def test_moves_are_sorted_by_banking_reserve_waste_columns_and_stock() -> None:
    seen = scene_from(
        "lafayette",
        """
        stock: 2C
        waste: AD
        reserve: KS
        t1: AH 7S
        t2: 8H
        up: S6
        """,
    )
    assert [str(move) for move in seen.legal] == [
        "r>down",
        "w>up",
        "t1>up",
        *("r>t3", "r>t4"),
        *("w>t3", "w>t4"),
        *("t1>t2", "t1>t3", "t1>t4"),
        "draw",
    ]


@pytest.mark.parametrize(
    ("name", "picture", "source", "target", "size", "expected"),
    [
        (
            *("lafayette", "t1: JS", "t1", "t2", None),
            "Js to column 2: moving a whole column into an empty one would change nothing.",
        ),
        (*("caprice", "t1: TS\nt11: 5D", "t1", "t11", None), "10s to column 11 (key -): columns build up or down in suit."),
        (*("caprice", "t1: TS", "t1", "t11", None), "Moving a whole column into an empty one would change nothing."),
        (*("lafayette", "t2: 5D", "t1", "t2", None), "Column 1 is empty: nothing to carry."),
        (*("lafayette", "t2: 5D", "w", "t2", None), "The waste is empty: nothing to carry."),
        (
            *("lafayette", "t1: 3S\ndown: S1", "t1", "down", None),
            "3s: the foundation waits for another card. Next: Qs.",
        ),
        (
            *("lady-palk", "t1: 3S\nup: S7,4", "t1", "up", None),
            "3s: the foundation waits for another card. Next: 5s or 8s.",
        ),
        (
            *("lafayette", "t1: 3S\nup: S13", "t1", "up", None),
            "3s: the foundation waits for another card. That suit is complete.",
        ),
        (
            *("canfield", "t1: 5H 4S\nt2: KD", "t1", "t3", None),
            "5h to column 3: moving a whole column into an empty one would change nothing.",
        ),
        (
            *("canfield", "reserve: 4S\nt2: KD", "r", "t3", None),
            "4s to column 3: an empty column takes only the top card of the waste.",
        ),
        (
            *("lafayette", "t1: 2H 5H 4S", "t1", "t3", 2),
            "5h to column 3: these cards cannot be lifted together. You can carry one card.",
        ),
        (*("canfield-aisleriot", "up: S1\nt1: 2D", "up.S", "t1", 1), "As to column 1: the first card of a foundation stays there."),
        (*("canfield-aisleriot", "up: S1\nt1: 2D", "up.H", "t1", 1), "There is no card to move."),
    ],
)  # fmt: skip
def test_a_refused_carry_is_explained(
    name: str, picture: str, source: str, target: str, size: int | None, expected: str
) -> None:
    assert why_not(scene_from(name, picture), source, target, size) == expected
