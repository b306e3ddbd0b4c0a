"""Answers about a board: its piles, its legal moves, and the place of a card."""

from kit.positions import draw
from saratoga_client.plain.board_answers import BoardAnswers, rules_lines
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact

LAFAYETTE = GAMES["lafayette"]
PICTURE = "t1: 9C\nt2: 8H\nwaste: AS"


def asked(picture: str = PICTURE, card_names: CardNames = LETTERS, **changes: bool) -> BoardAnswers:
    return BoardAnswers(LAFAYETTE, redact(draw(LAFAYETTE, picture)), 4, card_names, **changes)


def test_look_at_an_ended_board_gives_no_number_of_moves() -> None:
    view = redact(draw(LAFAYETTE, PICTURE))
    assert next(BoardAnswers(LAFAYETTE, view, None, LETTERS).look()).startswith(
        "board: lafayette, 0 "
    )


def test_where_accepts_cards_in_words() -> None:
    assert list(asked(card_names=CardNames(in_words=True)).where("eight of hearts")) == [
        "where 8 of hearts: column 2, on top"
    ]


def test_rules_are_of_the_current_game_or_of_the_named_one() -> None:
    assert next(rules_lines("", LAFAYETTE)) == "rules game: Lafayette"
    assert next(rules_lines("Caprice", LAFAYETTE)) == "rules game: Caprice"
    assert [*rules_lines("Caprice", LAFAYETTE)][1] == (
        "rules in short: Columns build up or down in suit. A space is filled from the stock."
    )
    assert next(rules_lines("whist", LAFAYETTE)).startswith("no: Which game? There are klondike, ")
