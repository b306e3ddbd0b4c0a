import pytest
from hypothesis import given

from kit.positions import draw
from kit.walks import places, step_at
from saratoga_client.review.words import card_name, carried, in_ascii, move_words
from saratoga_rules.cards import HIDDEN, PACK, Card
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import Carry, parse_move
from saratoga_rules.views import redact

every_game = pytest.mark.parametrize("name", GAMES)


def test_a_ten_is_written_out() -> None:
    assert [card_name(Card(card)) for card in ("TH", "AS", "QC", "9D")] == ["10♥", "A♠", "Q♣", "9♦"]
    assert len({card_name(card) for card in PACK}) == 52
    assert in_ascii("bank 10♥ from column 2") == "bank 10h from column 2"


@every_game
@given(place=places)
def test_no_card_that_is_carried_is_a_hidden_one(name: str, place: int) -> None:
    step = step_at(name, place)
    view = redact(step.position)
    for move in legal_moves(step.game, view):
        words = move_words(step.game, view, move)
        assert words == move_words(step.game, step.position, move)
        assert len(words) <= 50
        if isinstance(move, Carry):
            assert carried(view, move) == carried(step.position, move) != HIDDEN


@pytest.mark.parametrize(
    ("move", "said"),
    [
        ("draw", "draw"),
        ("w>t1", "7♣ from the waste onto 8♥ (column 1)"),
        ("t3>t1:2", "7♠ to 6♦ from column 3 onto 8♥ (column 1)"),
        ("t3>t4:2", "7♠ to 6♦ from column 3 into the space (column 4)"),
        ("r>up", "bank A♠ from the reserve"),
        ("up.H>t3", "5♥ from its foundation onto 6♦ (column 3)"),
    ],
)
def test_moves_are_said_with_their_cards(move: str, said: str) -> None:
    game = GAMES["canfield-aisleriot"]
    position = draw(
        game, "t1: 8H\nt2: 2C\nt3: KD 7S 6D\nwaste: 7C\nreserve: AS\nup: H5\nbase: A\nstock: 2D"
    )
    assert move_words(game, position, parse_move(move)) == said


def test_where_foundations_go_both_ways_the_way_is_said() -> None:
    position = draw(GAMES["lafayette"], "t1: KH\nup: H12")
    assert move_words(GAMES["lafayette"], position, parse_move("t1>down")) == (
        "bank K♥ from column 1, down"
    )
    assert move_words(GAMES["caprice"], position, parse_move("draw")) == "deal"
