"""The weak bot's choices."""

import pytest

from kit.offline_bots import play_offline
from kit.positions import draw
from saratoga_client.bots.casual import is_banking
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.weak import choose_weakly
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DRAW, Move, parse_move
from saratoga_rules.views import View, redact

AISLERIOT, CANFIELD = GAMES["canfield-aisleriot"], GAMES["canfield"]

BANK = parse_move("w>up")

FULL = "t1: 4C 9C\nt2: 9S\nt3: 7C\nt4: 7S"
"""Columns without a space and without a move between them."""


def view_of(picture: str) -> View:
    return redact(draw(CANFIELD, picture))


def choices(view: View) -> list[Move | None]:
    return [choose_weakly(CANFIELD, view, Memory(variation=number)).move for number in range(200)]


def test_it_sometimes_overlooks_a_card_that_it_can_bank() -> None:
    made = choices(view_of(f"{FULL}\nwaste: AS\nstock: 2C 5D 9H\nbase: A"))
    assert set(made) == {BANK, DRAW}
    assert made.count(BANK) > made.count(DRAW)


def test_it_overlooks_a_card_until_the_next_pass() -> None:
    view = view_of(f"{FULL}\nwaste: AS\nstock: 2C 5D 9H\nbase: A")
    later = view._replace(stock=view.stock[1:], columns=(view.columns[0][1:], *view.columns[1:]))
    assert choices(view) == choices(later)
    assert choices(view) != choices(view._replace(passes=2))


def test_it_overlooks_nothing_when_it_sees_no_point_in_another_pass() -> None:
    view = view_of(f"{FULL}\nwaste: AS\nbase: A")
    made = {
        choose_weakly(CANFIELD, view, Memory(variation=number, idle=40)).move
        for number in range(50)
    }
    assert made == {BANK}


def test_it_never_takes_a_card_back_from_a_foundation() -> None:
    view = redact(draw(AISLERIOT, "t1: 6H\nup: S5\nbase: A"))
    assert {str(move)[:5] for move in legal_moves(AISLERIOT, view)} == {"up.S>"}
    assert choose_weakly(AISLERIOT, view, Memory()).move is None


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_it_plays_until_it_can_neither_draw_nor_bank(game: Game) -> None:
    for number in range(20):
        deal = deal_for_key(game, practice_key(f"test {number}"))
        end = play_offline(game, deal, choose_weakly, variation=number).end
        left = () if game.goal(end) else legal_moves(game, end)
        assert not [move for move in left if move == DRAW or is_banking(move)]
