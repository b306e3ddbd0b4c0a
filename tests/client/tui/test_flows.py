"""The appearance of screens follows the settings, and changes made on screens are saved."""

import pytest

from saratoga_client.local import paths
from saratoga_client.local.settings import Settings, load
from saratoga_client.local.terminal import Capabilities, Colours
from saratoga_client.tui.flows import appearance_of, remember


def terminal(*, unicode: bool) -> Capabilities:
    return Capabilities(
        is_terminal=True,
        term="xterm",
        redraws=True,
        colours=Colours.NONE,
        unicode=unicode,
        columns=80,
        rows=24,
    )


@pytest.mark.parametrize(
    ("chosen", "unicode", "is_ascii"),
    [
        (None, True, False),
        (None, False, True),
        (True, True, True),
        (False, False, False),
    ],
)
def test_the_terminal_decides_about_ascii_unless_the_player_does(
    chosen: bool | None, unicode: bool, is_ascii: bool
) -> None:
    assert appearance_of(Settings(ascii=chosen), terminal(unicode=unicode)).ascii is is_ascii


def test_the_screen_looks_as_the_settings_say() -> None:
    settings = Settings(theme="paper", background=False, quick=True, suits={"caprice": "two"})
    seen = appearance_of(settings, terminal(unicode=True))
    assert (seen.theme, seen.background, seen.quick) == ("paper", False, True)
    assert (seen.suits, seen.colours) == ({"caprice": "two"}, Colours.NONE)


def test_a_choice_on_the_screen_is_a_setting_from_then_on() -> None:
    remember("theme", "paper")
    remember("suits.caprice", "four")
    assert (load().theme, load().suits) == ("paper", {"caprice": "four"})


def test_a_choice_that_cannot_be_saved_ends_nothing() -> None:
    path = paths.config_path()
    path.mkdir(parents=True)
    remember("theme", "paper")
    assert list(path.iterdir()) == []
