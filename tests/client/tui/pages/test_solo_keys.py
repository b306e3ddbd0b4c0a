"""Every key that the help of the solo screens names has an effect."""

import pytest
from textual.screen import Screen

from kit.solo_player import before, finished
from saratoga_client.practice.deals import from_seed
from saratoga_client.tui.pages.solo_keys import PRACTICE_KEYS, REPLAY_KEYS, Keys
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_rules.games import GAMES


def named(keys: Keys) -> list[str]:
    return [key for named, _ in keys for key in named.split() if key != "q"]


@pytest.mark.parametrize(
    ("keys", "is_practice"),
    [(PRACTICE_KEYS, True), (REPLAY_KEYS, False)],
    ids=["practice", "replay"],
)
async def test_every_key_that_the_help_names_does_something(keys: Keys, is_practice: bool) -> None:
    screen: Screen[None] = (
        PracticeScreen(from_seed(GAMES["canfield"], "7"))
        if is_practice
        else ReviewScreen(finished())
    )
    async with before(screen) as player:
        for key in named(keys):
            said = await player.press(key)
            assert "does nothing" not in said, key
            if not player.sees(screen):
                await player.press("q")
            elif key == "/":
                await player.press("escape")
            assert player.sees(screen), key


def test_no_key_is_named_twice() -> None:
    for keys in (PRACTICE_KEYS, REPLAY_KEYS):
        assert len(set(named(keys))) == len(named(keys))
