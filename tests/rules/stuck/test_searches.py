"""The searches for progress: both agree, and each of them counts what looks alike once."""

from dataclasses import replace
from random import Random

import pytest

from kit.positions import draw, small_position
from saratoga_rules.analysis import Analysis, legal_moves
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.moves import DRAW
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.peeling import PeelingSearch, can_peel
from saratoga_rules.stuck.prospects import is_in_sight, prospects
from saratoga_rules.vocabulary.foundations import First, down_from
from saratoga_rules.vocabulary.tableau import ANYTHING, Space

# The peeling search agrees with the search through arrangements


def test_the_games_that_can_be_peeled_have_runs_without_a_corner_and_kings_in_spaces() -> None:
    assert [name for name, game in GAMES.items() if can_peel(game)] == ["klondike", "lady-palk"]


def test_cards_that_come_back_are_counted_in_one_pack_with_foundations_built_up() -> None:
    assert not can_peel(replace(KLONDIKE, packs=2))
    assert not can_peel(replace(KLONDIKE, down=down_from(First.KING)))
    assert not can_peel(replace(KLONDIKE, columns=replace(KLONDIKE.columns, space=Space(ANYTHING))))


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
        if not position.stock and not is_in_sight(Analysis(LADY_PALK, position)):
            found.append(position)
    return found[::10]


@pytest.mark.parametrize("seed", range(12))
def test_both_searches_agree_if_the_long_one_ends(seed: int) -> None:
    for position in late_positions(seed):
        ahead = prospects(LADY_PALK, position)
        verdict = PeelingSearch(LADY_PALK, position, ahead).advance(1000)
        assert verdict is not None
        assert ArrangementSearch(LADY_PALK, position, ahead).advance(300) in (verdict, None)


def test_both_searches_agree_where_cards_come_back_from_foundations() -> None:
    chance = Random("cards that come back")
    verdicts = {True: 0, False: 0}
    while sum(verdicts.values()) < 200:
        position = small_position(KLONDIKE, chance)
        if is_in_sight(Analysis(KLONDIKE, position)):
            continue
        ahead = prospects(KLONDIKE, position)
        verdict = PeelingSearch(KLONDIKE, position, ahead).advance(1000)
        assert verdict is not None
        verdicts[verdict] += 1
        assert ArrangementSearch(KLONDIKE, position, ahead).advance(1000) in (verdict, None)
    assert min(verdicts.values()) > 20


def search(picture: str, game: Game = LADY_PALK) -> PeelingSearch:
    position = draw(game, picture)
    assert not is_in_sight(Analysis(game, position))
    return PeelingSearch(game, position, prospects(game, position))


def stages(searching: PeelingSearch) -> tuple[bool, int]:
    """Return the verdict and the number of stages that were searched."""
    searched = 0
    while (verdict := searching.advance(1)) is None:
        searched += 1
    return verdict, searched + 1


def test_cards_of_one_kind_that_swap_what_lies_on_them_are_one_stage() -> None:
    # the 8S may lie on either nine
    assert stages(search("t1: 9H 8S\nt2: 9D\nt3: JC\nt4: JS", KLONDIKE)) == (True, 1)


def test_a_card_comes_back_only_where_it_may_help() -> None:
    # the 7H may lie on the 8S, but no six is there to lie on it
    assert stages(search("t1: 8S\nt2: TS\nup: H7 S2", KLONDIKE)) == (True, 1)
    # the 6C that lies on the 9D could, and the 9D on the TS, but that is no progress
    assert stages(search("t1: 8S\nt2: TS\nt3: JH 9D 6C\nup: H7 S2", KLONDIKE))[0] is True
    # a face-down card under the 9D is
    assert search("t1: 8S\nt2: TS\nt3: JH | 9D 6C\nup: H7 S2", KLONDIKE).advance(9) is False


# Arrangements


def search_arrangements(game: Game, picture: str) -> ArrangementSearch:
    position = draw(game, picture)
    assert not is_in_sight(Analysis(game, position))
    return ArrangementSearch(game, position, prospects(game, position))


def test_an_arrangement_without_neighbours_is_the_end() -> None:
    assert search_arrangements(LAFAYETTE, "t1: 9H\nt2: 9D\nt3: 9H\nt4: 9D").advance(1) is True


def test_columns_that_only_change_places_are_one_arrangement() -> None:
    # the 8C goes to and fro between two nines: that is one other arrangement, not many
    assert search_arrangements(LAFAYETTE, "t1: 9H 8C\nt2: 9D\nt3: 2C\nt4: 2S").advance(2) is True


def test_a_card_put_into_any_of_many_spaces_is_one_arrangement() -> None:
    assert search_arrangements(CAPRICE, "t1: 5C 9H\nt2: 3D").advance(2) is True


def test_columns_that_look_alike_differ_if_one_has_face_down_cards() -> None:
    # the 8S may lie on three nines
    assert (
        search_arrangements(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 9H\nt3: 9D\nt4: 2C").advance(2) is None
    )
    assert (
        search_arrangements(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 9H\nt3: 9D\nt4: 2C").advance(3) is True
    )
    assert (
        search_arrangements(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 2H | 9H\nt3: 9D\nt4: 2C").advance(2)
        is True
    )
