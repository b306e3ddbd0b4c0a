"""The colour themes as values."""

from dataclasses import asdict

import pytest

from saratoga_client.tui.themes import THEMES, Theme, on_any_ground


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_every_colour_of_a_theme_is_written_out(theme: Theme) -> None:
    for purpose, colour in asdict(theme).items():
        assert purpose == "name" or (len(colour) == 7 and int(colour[1:], 16) >= 0)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_on_a_ground_that_nobody_knows_the_table_has_the_terminals_colours(theme: Theme) -> None:
    changed = on_any_ground(theme)
    assert (changed.table, changed.text, changed.title, changed.label) == ("", "", "", "")
    assert (changed.card, changed.red, changed.picked) == (theme.card, theme.red, theme.picked)
