from kit.positions import draw
from saratoga_rules.game import Game
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.prospects import is_in_sight, prospects


def search(game: Game, picture: str) -> ArrangementSearch:
    position = draw(game, picture)
    assert not is_in_sight(game, position)
    return ArrangementSearch(game, position, prospects(game, position))


def test_an_arrangement_without_neighbours_is_the_end() -> None:
    assert search(LAFAYETTE, "t1: 9H\nt2: 9D\nt3: 9H\nt4: 9D").advance(1) is True


def test_columns_that_only_change_places_are_one_arrangement() -> None:
    # the 8C goes to and fro between two nines: that is one other arrangement, not many
    assert search(LAFAYETTE, "t1: 9H 8C\nt2: 9D\nt3: 2C\nt4: 2S").advance(2) is True


def test_a_card_put_into_any_of_many_spaces_is_one_arrangement() -> None:
    assert search(CAPRICE, "t1: 5C 9H\nt2: 3D").advance(2) is True


def test_columns_that_look_alike_differ_if_one_has_face_down_cards() -> None:
    # the 8S may lie on three nines
    assert search(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 9H\nt3: 9D\nt4: 2C").advance(2) is None
    assert search(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 9H\nt3: 9D\nt4: 2C").advance(3) is True
    assert search(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 2H | 9H\nt3: 9D\nt4: 2C").advance(2) is True
