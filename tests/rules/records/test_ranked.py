"""Which races may count for the leaderboards."""

import pytest

from saratoga_rules.records.ranked import may_be_ranked


@pytest.mark.parametrize(
    ("chosen_seed", "cap", "racers", "may_be"),
    [
        (False, 10, 2, True),
        (False, 10, 1, False),
        (True, 10, 2, False),
        (False, 0, 2, False),
    ],
    ids=["open", "alone", "chosen seed", "no time limit"],
)
def test_a_race_counts_with_a_random_seed_a_time_limit_and_two_racers(
    chosen_seed: bool, cap: int, racers: int, may_be: bool
) -> None:
    assert may_be_ranked(chosen_seed=chosen_seed, cap=cap, racers=racers) is may_be
