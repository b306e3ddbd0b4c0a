"""The keys that every replay screen has."""

from kit.finished_races import finished_race
from saratoga_client.review.replay import replay_of
from saratoga_client.tui.screens.replay import JUMPS, STEPS, ReplayScreen


def test_steps_and_jumps_go_both_ways() -> None:
    for keys in (STEPS, JUMPS):
        assert sorted(keys.values()) == sorted(-step for step in keys.values())


def test_the_base_has_no_key_for_hidden_cards_or_other_boards() -> None:
    screen = ReplayScreen(replay_of(finished_race()))
    assert set(screen.key_actions()) == {"home", "end", "space", "k", "escape", "w"}
