"""The appearance settings of the screens."""

import pytest

from saratoga_client.board_view.card_style import SuitColours
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.themes import THEMES
from saratoga_rules.games import GAMES


@pytest.mark.parametrize("colours", Colours)
def test_without_colour_red_suits_are_hollow_and_with_it_they_are_not(colours: Colours) -> None:
    appearance = Appearance(colours=colours)
    assert appearance.card_style(GAMES["canfield"]).hollow is (colours is Colours.NONE)


def test_each_game_has_the_suits_that_it_is_read_best_with_unless_they_were_chosen() -> None:
    appearance = Appearance()
    assert appearance.card_style(GAMES["canfield"]).suits is SuitColours.TWO
    assert appearance.card_style(GAMES["caprice"]).suits is SuitColours.FOUR
    other = appearance.with_other_suits(GAMES["canfield"])
    assert other.card_style(GAMES["canfield"]).suits is SuitColours.FOUR
    assert other.card_style(GAMES["lafayette"]).suits is SuitColours.TWO
    assert other.with_other_suits(GAMES["canfield"]).card_style(GAMES["canfield"]).suits is (
        SuitColours.TWO
    )


def test_themes_go_round_and_an_unknown_one_is_the_first() -> None:
    appearance = Appearance(theme="of another version")
    seen = []
    for _ in THEMES:
        seen.append(appearance.theme_name)
        appearance = appearance.with_next_theme()
    assert seen == list(THEMES)
    assert appearance.theme_name == seen[0]
    assert Appearance(colours=Colours.SIXTEEN).theme_name == "plain"
