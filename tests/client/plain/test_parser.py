"""Typed text is parsed as a move or answered with an explanation."""

import pytest

from kit.positions import draw
from saratoga_client.plain.board_answers import parse_typed_move
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.grammar import Context
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, Move, parse_move
from saratoga_rules.views import redact


def answered(words: str, name: str = "lafayette", context: Context = Context.TABLE) -> Move | str:
    view = redact(draw(GAMES[name], "t1: 9C\nt2: 8H\nt3: 9S\nstock: 2C"))
    return parse_typed_move(GAMES[name], view, words, context, CardNames(in_words=True))


def test_a_legal_move_is_parsed() -> None:
    assert answered("2 1") == parse_move("t2>t1")
    assert answered("draw") == DRAW


def test_an_illegal_move_is_explained_with_the_chosen_card_names() -> None:
    assert answered("3") == "no: 9 of spades, column 3: no place to go now."
    assert answered("1 2") == (
        "no: 9 of clubs to column 2: columns build down in alternating colours."
    )


def test_an_ambiguous_move_lists_what_to_type() -> None:
    assert answered("2") == "no: Several are possible: type 2 1 or 2 3."


@pytest.mark.parametrize("words", ["draw 3 columns", "bank bank"])
def test_a_malformed_move_is_explained(words: str) -> None:
    assert str(answered(words)).startswith("no: A move is a pile and where it goes, such as 3 5")


def test_other_text_is_compared_with_the_commands() -> None:
    assert answered("standigns") == (
        "no: 'standigns' is neither a command nor a move. Did you mean standings? Type help."
    )
    assert answered("undo") == "no: undo works only in practice. Type help."
