"""Moves and cards as people type and read them."""

import pytest

from kit.positions import draw
from saratoga_client.input.find import cards_matching, found_text
from saratoga_client.input.move_text import (
    LINE,
    ascii_card_name,
    describe,
    turned_up,
    with_turned_up,
)
from saratoga_client.input.typed_moves import typed_move
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.play import play
from saratoga_rules.position import redact

BOARD = """
    stock: 2C 3C
    waste: AH
    reserve: 4S JH
    t1: 9C 7S
    t2: 8H
    t3: QS
    t4: AS
    up: C1
"""
RUNS = "t1: 2C KS QH JS TD\nt2: JC\nt4: 4S 3D\nt5: JD\nt6: QC"
BACK = "up: S4 H3\nt1: 5D\nt2: 4C\nt3: 9H\nt4: 9D"
FITS_BOTH = "t1: 7S\nup: S6\ndown: S6"
DEALT = "t1: 2S\nt2: 9H\nt10: 7S\nt11: 8S\nt12: 6S"


def typed(name: str, picture: str, line: str) -> Move | str | None:
    return typed_move(GAMES[name], redact(draw(GAMES[name], picture)), line, ascii_card_name)


@pytest.mark.parametrize(
    ("name", "picture", "move", "lines"),
    [
        ("lafayette", BOARD, "t1>t2", "1 2; 12; 1>2; t1 t2; t1>t2; T1 > T2; c1 c2; column 1 to column 2; 1; 1 1"),
        ("lafayette", BOARD, "r>t3", "r 3; r3; R 3; reserve to 3; r>3; r>t3; r; r 3 x1; r 3 1"),
        ("lafayette", BOARD, "w>up", "w f; wf; waste up; w; bank w; w>up; W>UP; f w; bank waste"),
        ("lafayette", BOARD, "t4>up", "4 f; 4f; 4; f 4; bank 4; 4 up; 4 to the foundation"),
        ("lafayette", BOARD, "draw", "draw; d; deal; space; stock; DRAW; s"),
        ("lafayette", "waste: 2C", "redeal", "redeal; d; space; Redeal"),
        ("lafayette", FITS_BOTH, "t1>down", "1 g; 1g; 1 down; t1>down; g 1; g; down"),
        ("lafayette", FITS_BOTH, "t1>up", "1 f; f; up"),
        ("lady-palk", RUNS, "t1>t3:4", "1 3; 1 3 x4; 1 3 4; 1>3:4; t1>t3:4; t1 > t3 : 4; 1>3 x 4; 13x4; 1 3 *4; 1 3 x4 cards"),
        ("lady-palk", RUNS, "t1>t6:2", "1 6; 1 6 x2; 16"),
        ("lady-palk", "t1: AS", "t1>up", "bank; bank 1; f; 1 f"),
        ("canfield-aisleriot", BACK, "up.S>t1", "b 1; b1; back 1; up.s>t1; UP.S>T1; up.s 1; take back to 1"),
        ("canfield-aisleriot", BACK, "up.H>t2", "b 2; up.h 2"),
        ("caprice", DEALT, "t10>t11", "10 11; 0 -; 0-; t10>t11; t10 t11; 10>11"),
        ("caprice", DEALT, "t12>t10", "12 10; = 0; =0"),
    ],
)  # fmt: skip
def test_a_move_can_be_typed_in_many_ways(name: str, picture: str, move: str, lines: str) -> None:
    read = {line: str(typed(name, picture, line)) for line in lines.split("; ")}
    assert read == dict.fromkeys(read, move)


@pytest.mark.parametrize(
    ("name", "picture", "line", "says"),
    [
        ("lafayette", BOARD, "1 3", "7s to column 3: columns build down in alternating colours."),
        ("lafayette", BOARD, "t1>t3", "7s to column 3: columns build down in alternating colours."),
        ("caprice", "t1: 9S\nt11: 5D", "1 -", "9s to column 11: columns build up or down in suit."),
        ("lafayette", BOARD, "1 5", "Lafayette has no column 5."),
        ("lafayette", BOARD, "9 1", "Lafayette has no column 9."),
        ("lafayette", BOARD, "2", "8h, column 2: no place to go now."),
        ("lafayette", BOARD, "1 2 x2", "9c to column 2: these cards cannot be lifted together. You can carry one card."),
        ("lafayette", BOARD, "1 w", "Cards cannot be moved onto the waste."),
        ("lafayette", BOARD, "redeal", "The stock must be drawn to its end before a redeal."),
        ("lafayette", BOARD, "bank", "Several are possible: type w f or 4 f."),
        ("lafayette", BOARD, "f", "Several are possible: type w f or 4 f."),
        ("lafayette", BOARD, "g", "No card can be banked there now."),
        ("lafayette", BOARD, "bank 2", "8h: the foundation waits for another card. Next: Ah."),
        ("lafayette", BOARD, "bank 9", "Lafayette has no column 9."),
        ("lafayette", "t1: 9S", "bank", "No card can be banked now."),
        ("lafayette", "t1: 9S", "bank w", "The waste is empty."),
        ("lafayette", FITS_BOTH, "bank 1", "Several are possible: type 1 f or 1 g."),
        ("lafayette", FITS_BOTH, "1", "Several are possible: type 1 f or 1 g."),
        ("lafayette", BOARD, "b 1", "In this game a card on a foundation stays there."),
        ("lafayette", "t1: 9S", "d", "The stock is empty. There is no waste to turn over."),
        ("lafayette", "t1: 9S", "draw", "The stock is empty."),
        ("caprice", DEALT, "w 1", "Caprice has no waste."),
        ("lady-palk", RUNS, "r", "Lady Palk has no reserve."),
        ("lady-palk", RUNS, "1 g", "Lady Palk has no foundations built down."),
        ("lady-palk", RUNS, "1 3 x2", "Js to column 3: an empty column takes a king, with all on it."),
        ("canfield-aisleriot", BACK, "b 3", "No foundation gives a card that column 3 takes."),
        ("canfield-aisleriot", BACK, "b f", "A card from a foundation comes back into a column, nowhere else."),
        ("canfield-aisleriot", "up: S4 C4\nt1: 5D", "b 1", "Several are possible: type up.C 1 or up.S 1."),
        ("canfield", "t1: 5H 4S\nt2: 6C", "1 2 x1", "4s to column 2: you can carry the whole pile, and only as a whole."),
    ],
)  # fmt: skip
def test_an_illegal_typed_move_gets_an_answer(
    name: str, picture: str, line: str, says: str
) -> None:
    assert typed(name, picture, line) == says


@pytest.mark.parametrize(
    "line",
    ["", "hello", "1 2 3 4", "x", "b", "s 1", "1 s", "help", "1 b", "> >", "bank bank"],
)
def test_a_line_that_is_no_move_is_not_judged(line: str) -> None:
    assert typed("lafayette", BOARD, line) is None


def test_a_card_that_a_move_turns_up_is_named_after_the_move() -> None:
    klondike = GAMES["klondike"]
    before = draw(klondike, "t1: 2C 3D | 9H 8S\nt2: 4C | TC\nt3: 9D")
    part, turned = (play(klondike, before, parse_move(move)) for move in ("t1>t3", "t1>t2:2"))
    assert turned_up(redact(before), redact(part)) is None
    assert turned_up(redact(before), redact(turned)) == "3D"
    last = play(klondike, draw(klondike, "t1: 3D | 9H\nt2: TC"), parse_move("t1>t2"))
    assert turned_up(redact(draw(klondike, "t1: 3D | 9H\nt2: TC")), redact(last)) == "3D"
    assert with_turned_up("Moved.", redact(before), redact(part)) == "Moved."
    assert with_turned_up("Moved.", redact(before), redact(turned)) == "Moved; 3♦ turns up."
    assert (
        with_turned_up("Moved.", redact(before), redact(turned), ascii_card_name)
        == "Moved; 3d turns up."
    )
    long = f"{'x' * (LINE - 5)}."
    assert with_turned_up(long, redact(before), redact(turned)) == long


@pytest.mark.parametrize(
    ("game", "picture", "move", "expected"),
    [
        ("lafayette", "t3: 7S\nt4: 8H", "t3>t4", "7♠ from column 3 to column 4"),
        ("lafayette", "t3: 7S", "t3>t4", "7♠ from column 3 to column 4, an empty one"),
        ("lafayette", "waste: AS", "w>up", "A♠ from the waste banked up"),
        ("lafayette", "reserve: KS", "r>down", "K♠ from the reserve banked down"),
        ("canfield", "reserve: AS", "r>up", "A♠ from the reserve banked"),
        ("lady-palk", "t1: TD 9S\nt2: JC", "t1>t2:2", "2 cards (10♦ to 9♠) from column 1 to column 2"),
        ("canfield-aisleriot", "up: S4\nt2: 5D", "up.S>t2", "4♠ back from its foundation to column 2"),
        ("canfield", "stock: 2C 3C 4C 5C", "draw", "3 cards from the stock to the waste"),
        ("canfield", "stock: 2C", "draw", "1 card from the stock to the waste"),
        ("caprice", "stock: 2C 3C", "draw", "the last 2 cards dealt to the columns from the left"),
        ("caprice", f"stock: {'2C' * 13}", "draw", "a card dealt to each column"),
        ("canfield", "waste: 2C", "redeal", "the waste turned over, pass 2"),
        ("canfield-aisleriot", "waste: 2C", "redeal", "the waste turned over, pass 2 of 3"),
        ("canfield-aisleriot", "waste: 2C\npass: 2", "redeal", "the waste turned over, pass 3 of 3, the last"),
    ],
)  # fmt: skip
def test_moves_are_described_before_they_are_played(
    game: str, picture: str, move: str, expected: str
) -> None:
    view = redact(draw(GAMES[game], picture))
    assert describe(GAMES[game], view, parse_move(move)) == expected


PICTURE = """
    stock: 7D
    waste: 7C 8D
    reserve: 7S 9H
    t1: 7H 6S 5H
    t2: KS
    up: C7
    base: 5
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", "7♣ on the waste under 1; 7♥ in column 1 under 2; 7♣ banked."),
        ("9h", "9♥ on the reserve."),
        ("k", "K♠ in column 2."),
        ("j", "J♣ banked."),
        ("3", "No such card can be seen."),
        ("7d", "No such card can be seen."),
        ("what", "Find a card by rank, suit or both, such as 7, h or 10d."),
    ],
)
def test_the_search_says_where_visible_cards_lie(text: str, expected: str) -> None:
    game = GAMES["canfield"]
    assert found_text(game, redact(draw(game, PICTURE)), text) == expected


def test_of_many_cards_the_first_and_the_number_are_given() -> None:
    game = GAMES["lady-palk"]
    view = redact(draw(game, "\n".join(f"t{n}: 9H 8H 7H" for n in range(1, 9))))
    found = found_text(game, view, "h", ascii_card_name)
    assert found.startswith("24 can be seen: 9h in column 1 under 2; 8h in column 1 under 1; ")
    assert found.endswith("; ..")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7h", "7H"),
        ("7 of hearts", "7H"),
        (" 10 D ", "TD"),
        ("Queen of Spades", "QS"),
        ("ace♠", "AS"),
        ("eights", "8C 8S 8H 8D"),
        ("6s", "6S"),
        ("kings", "KC KS KH KD"),
        ("10", "TC TS TH TD"),
        ("1", "AC AS AH AD"),
        ("", ""),
        ("7x", ""),
        ("7 of nothing", ""),
        ("7 of hearts please", ""),
        ("##", ""),
    ],
)
def test_cards_are_found_by_rank_and_suit(text: str, found: str) -> None:
    assert list(cards_matching(text)) == found.split()
