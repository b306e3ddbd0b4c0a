import pytest
from hypothesis import given

from kit.positions import draw
from kit.walks import Step, steps
from saratoga_client.plain.position import position_lines
from saratoga_rules.cards import PACK
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.views import View, redact


def view_of(game: Game, picture: str) -> View:
    return redact(draw(game, picture))


def test_every_pile_has_its_line() -> None:
    view = view_of(
        CANFIELD_AISLERIOT,
        """
        t1: 5D 4C
        t3: TS
        waste: 2C 3S QH 7C
        reserve: 2D 3D QD
        stock: AC 2H
        up: C4 S5
        base: 6
        pass: 3
        """,
    )
    assert list(position_lines(CANFIELD_AISLERIOT, view)) == [
        "stock: 2, pass 3 of 3",
        "waste: 4, 3S QH 7C",
        "reserve: 3, QD",
        "up: C 4 to 9, S 5 to T, H empty, D empty, base 6",
        "column 1: 5D 4C",
        "column 2: empty",
        "column 3: TS",
        "column 4: empty",
    ]


def test_empty_piles_are_marked_empty() -> None:
    lines = list(position_lines(CANFIELD, view_of(CANFIELD, "up: S1")))
    assert lines[:3] == ["stock: empty, pass 1", "waste: empty", "reserve: empty"]


def test_a_game_without_waste_or_reserve_has_no_lines_for_them() -> None:
    heads = [line.partition(":")[0] for line in position_lines(CAPRICE, view_of(CAPRICE, ""))]
    assert heads == ["stock", "up", "down", *(f"column {n}" for n in range(1, 13))]


def test_both_foundations_of_a_suit_are_listed() -> None:
    lines = list(position_lines(LADY_PALK, view_of(LADY_PALK, "up: S5,2 D1")))
    assert lines[2] == (
        "up: C empty, C empty, S 5 to 5, S 2 to 2, H empty, H empty, D 1 to A, D empty"
    )


def test_a_foundation_built_down_shows_its_top_card() -> None:
    lines = list(position_lines(CAPRICE, view_of(CAPRICE, "down: C3 H13")))
    assert lines[2] == "down: C 3 to J, S empty, H 13 to A, D empty"


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_no_line_names_a_card_that_the_view_hides(game: Game) -> None:
    @given(steps(game.name))
    def holds(step: Step) -> None:
        view = redact(step.position)
        open_cards = {card for pile in (view.waste, view.reserve, *view.columns) for card in pile}
        said = {
            word
            for line in position_lines(game, view)
            if not line.startswith(("up", "down"))
            for word in line.replace(",", "").split()
            if word in PACK
        }
        assert said <= open_cards

    holds()
