import pytest

from kit.positions import draw
from saratoga_client.input.move_text import (
    LINE,
    ascii_card_name,
    card_name,
    carried,
    describe,
    first_that_fits,
    pile_name,
    target_of,
    turned_up,
    with_turned_up,
)
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import Carry, parse_move
from saratoga_rules.views import redact


@pytest.mark.parametrize(
    ("card", "signs", "letters"),
    [("QD", "Q♦", "Qd"), ("TC", "10♣", "10c"), ("AS", "A♠", "As"), ("2H", "2♥", "2h")],
)
def test_cards_are_named_as_they_look(card: str, signs: str, letters: str) -> None:
    assert card_name(Card(card)) == signs
    assert ascii_card_name(Card(card)) == letters


def test_a_hidden_card_has_no_name() -> None:
    assert card_name(HIDDEN) == ascii_card_name(HIDDEN) == "a hidden card"


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
    ("game", "pile", "name"),
    [
        ("caprice", "t9", "column 9"),
        ("caprice", "t10", "column 10 (key 0)"),
        ("caprice", "t11", "column 11 (key -)"),
        ("caprice", "t12", "column 12 (key =)"),
        ("canfield", "w", "the waste"),
        ("canfield", "r", "the reserve"),
        ("canfield", "stock", "the stock"),
        ("canfield", "up", "the foundations"),
        ("lafayette", "up.S", "the foundations built up"),
        ("lafayette", "down", "the foundations built down"),
    ],
)
def test_piles_are_named_in_sentences(game: str, pile: str, name: str) -> None:
    assert pile_name(GAMES[game], pile) == name


@pytest.mark.parametrize(
    ("game", "picture", "move", "expected"),
    [
        ("lafayette", "t3: 7S\nt4: 8H", "t3>t4", "7♠ from column 3 to column 4"),
        ("lafayette", "t3: 7S", "t3>t4", "7♠ from column 3 to column 4, a space"),
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


def test_the_target_of_a_banking_move_is_the_foundation_of_its_suit() -> None:
    view = redact(draw(GAMES["lafayette"], "t1: 9C AH"))
    assert target_of(view, Carry("t1", "up")) == "up.H"
    assert carried(view, Carry("t1", "up")) == ("AH",)


def test_the_longest_sentence_that_fits_is_chosen() -> None:
    assert first_that_fits("x" * 79, "short", "shorter") == "short"
    assert len(first_that_fits("x" * 200)) == 78
