"""The screens of practice, replay and review with keys and mouse."""

import pytest

from kit.screens import ScreenPlayer, StoppedClock, before, reviewed
from kit.session_states import finished
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.practice_session import kept_runs
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_client.tui.theme import Appearance
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]


async def test_the_run_is_kept_when_the_program_ends() -> None:
    async with before(PracticeScreen(from_seed(CANFIELD, "7"))) as player:
        await player.press("space")
        player.app.exit()
    assert len(kept_runs(from_seed(CANFIELD, "7"))) == 1


def screen_of(player: ScreenPlayer) -> ReviewScreen:
    assert isinstance(player.screen, ReviewScreen)
    return player.screen


async def test_space_plays_the_race_at_three_speeds() -> None:
    clock = StoppedClock()
    async with before(reviewed(finished(), clock=clock)) as player:
        assert await player.press("space") == "Playing at the speed of the race."
        clock.at = 5.0
        await player.until(lambda: screen_of(player).replay.moment == 5_000)
        assert await player.press("space", "space") == "Playing 8 times as fast as the race."
        clock.at = 6.0
        await player.until(lambda: screen_of(player).replay.moment == 13_000)
        assert "x8" in player.rows[0]
        assert await player.press("space") == "Paused; space plays on."
        clock.at = 600.0
        await player.press("space")
        clock.at = 6000.0
        await player.until(lambda: screen_of(player).speed == 0)
        assert screen_of(player).replay.moment == screen_of(player).replay.end


@pytest.mark.parametrize("name", GAMES)
async def test_no_text_is_cut_at_80_by_24_in_any_game(name: str) -> None:
    async with before(reviewed(finished(name)), appearance=Appearance(ascii=True)) as player:
        for keys in (("d",), ("d", "right"), ("end",), ("w",), ("o",), ("tab", "pagedown")):
            said = await player.press(*keys)
            assert len(said) <= 78
            assert not any(line.endswith(("..", "~")) for line in player.rows)
            assert player.rows[-1].endswith("? help  q back")
