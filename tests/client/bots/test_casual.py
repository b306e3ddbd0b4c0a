"""Useful carries, and the end of a game in which nothing changes any more."""

import pytest

from kit.offline_bots import play_offline
from kit.positions import draw
from saratoga_client.bots.casual import (
    FRUITLESS_PASSES,
    is_banking,
    turn_of_stock,
    useful_carries,
)
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, REDEAL, parse_move
from saratoga_rules.views import View, redact

AISLERIOT, CANFIELD, LADY_PALK = GAMES["canfield-aisleriot"], GAMES["canfield"], GAMES["lady-palk"]


def useful(game: Game, picture: str) -> set[str]:
    return {str(move) for move in useful_carries(game, redact(draw(game, picture)))}


def waste_of_four() -> View:
    return redact(draw(CANFIELD, "t1: 9C\nwaste: 2S 3S 4S 5S\nbase: A"))


def test_banking_and_playing_the_waste_are_useful() -> None:
    assert useful(CANFIELD, "t1: 9C\nt2: 5S\nt3: KD\nt4: 7D\nwaste: 3H AS\nbase: A") == {"w>up"}
    assert useful(CANFIELD, "t1: 9C\nt2: 4S\nt3: KD\nt4: 6D\nwaste: 3H\nbase: A") == {"w>t2"}


def test_a_card_that_lies_well_is_not_moved_to_another_place() -> None:
    well = "t1: 9C 8H\nt2: 9S\nbase: A"
    badly = "t1: 2C 8H\nt2: 9S\nbase: A"
    assert useful(LADY_PALK, well.replace("base: A", "")) == set()
    assert useful(LADY_PALK, badly.replace("base: A", "")) == {"t1>t2"}


def test_a_column_is_not_moved_into_a_space() -> None:
    assert useful(LADY_PALK, "t1: KC QH") == set()


def test_taking_a_card_back_from_a_foundation_is_not_useful() -> None:
    assert useful(AISLERIOT, "t1: 6H\nup: S5\nbase: A") == set()


def test_only_carries_to_a_foundation_bank_a_card() -> None:
    assert [is_banking(parse_move(each)) for each in ("w>up", "t1>down", "w>t3")] == [
        True,
        True,
        False,
    ]
    assert not is_banking(DRAW)


def test_a_player_draws_as_long_as_the_stock_has_cards() -> None:
    view = waste_of_four()._replace(stock=waste_of_four().waste)
    assert turn_of_stock(CANFIELD, view, Memory(idle=1000)) == DRAW


def test_a_player_makes_no_redeal_after_two_passes_without_progress() -> None:
    # A pass through four cards takes two draws and a redeal.
    last = FRUITLESS_PASSES * 3 - 2
    assert turn_of_stock(CANFIELD, waste_of_four(), Memory(idle=last)) == REDEAL
    assert turn_of_stock(CANFIELD, waste_of_four(), Memory(idle=last + 1)) is None


def test_a_player_makes_no_redeal_that_the_rules_refuse() -> None:
    assert turn_of_stock(AISLERIOT, waste_of_four()._replace(passes=3), Memory()) is None
    assert turn_of_stock(AISLERIOT, waste_of_four()._replace(passes=2), Memory()) == REDEAL


@pytest.mark.parametrize("strength", [Strength.WEAK, Strength.EVEN])
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_a_casual_player_stops_only_when_nothing_is_left_to_draw_or_to_bank(
    game: Game, strength: Strength
) -> None:
    for number in range(8):
        start = deal_for_key(game, practice_key(f"casual {number}"))
        played = play_offline(game, start, CHOOSERS[strength], variation=number)
        end = redact(played.end)
        assert game.goal(played.end) or not end.stock
        assert not any(is_banking(move) for move in useful_carries(game, end))
        redeals = [at for at, move in enumerate(played.moves) if move == REDEAL]
        if redeals and not game.goal(played.end) and len(redeals) < game.stock.passes - 1:
            assert not any(is_banking(move) for move in played.moves[redeals[-1] :])


def test_a_run_over_a_face_down_card_is_useful_to_carry_also_into_a_space() -> None:
    game = GAMES["klondike"]
    view = redact(draw(game, "t1: 4D | KS QH\nt2: 9S 8H\nt3: 9C\nt5: 2C\nt6: 4C\nt7: 6C"))
    assert [str(move) for move in useful_carries(game, view)] == ["t1>t4:2"]
