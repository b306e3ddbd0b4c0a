"""The peeling search agrees with the search through arrangements."""

from random import Random

import pytest

from kit.positions import draw
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import DRAW
from saratoga_rules.position import Position
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.peeling import PeelingSearch, can_peel
from saratoga_rules.stuck.prospects import is_in_sight, prospects


def test_of_all_games_only_lady_palk_can_be_peeled() -> None:
    assert [name for name, game in GAMES.items() if can_peel(game)] == ["lady-palk"]


def late_positions(seed: int) -> list[Position]:
    """Return positions without progress in sight, from a badly played game of Lady Palk."""
    chance = Random(seed)
    position = deal_for_key(LADY_PALK, bytes([seed]))
    found: list[Position] = []
    for _ in range(220):
        moves = legal_moves(LADY_PALK, position)
        if not moves:
            break
        chosen = DRAW if DRAW in moves and chance.random() < 0.4 else chance.choice(moves)
        position = play(LADY_PALK, position, chosen)
        if not position.stock and not is_in_sight(LADY_PALK, position):
            found.append(position)
    return found[::10]


@pytest.mark.parametrize("seed", range(12))
def test_both_searches_agree_if_the_long_one_ends(seed: int) -> None:
    for position in late_positions(seed):
        ahead = prospects(LADY_PALK, position)
        verdict = PeelingSearch(LADY_PALK, position, ahead).advance(1000)
        assert verdict is not None
        assert ArrangementSearch(LADY_PALK, position, ahead).advance(300) in (verdict, None)


def search(picture: str) -> PeelingSearch:
    position = draw(LADY_PALK, picture)
    assert not is_in_sight(LADY_PALK, position)
    return PeelingSearch(LADY_PALK, position, prospects(LADY_PALK, position))


REST = "".join(f"t{number}: KC\n" for number in range(5, 9))


def test_a_head_that_can_be_laid_elsewhere_comes_off() -> None:
    # the 7H goes on one of the eights, and the ace is free
    assert search(REST + "t1: AC 9H 7H\nt2: 3S 8S\nt3: 3S 4D\nt4: TC").advance(100) is False


def test_a_king_comes_off_into_a_space_but_not_from_one() -> None:
    assert search("t1: AC KH\nt2: 3C\nt3: 3C\nt4: 3C\nt5: 3C\nt6: 3C\nt7: 3C").advance(9) is False
    full = "t1: 9H KH\nt2: 3C\nt3: 3C\nt4: 3C\nt5: 3C\nt6: 3C\nt7: 3C"
    assert search(full).advance(100) is True
