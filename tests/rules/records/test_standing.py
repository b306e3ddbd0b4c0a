"""The order of finish, the tie-breaks, and which races may count."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_rules.games import GAMES
from saratoga_rules.records.standing import (
    RacerScore,
    Reached,
    State,
    last_reached,
    may_be_ranked,
    ranking,
)

# The order of finish, and the tie-breaks


CANFIELD = GAMES["canfield"]


def racer(
    player: str, banked: int, at: int | None = None, number: int = 1, state: State = State.STUCK
) -> RacerScore:
    reached = None if at is None else Reached(at, number)
    return RacerScore(player=player, banked=banked, state=state, reached=reached)


def test_a_count_is_reached_when_it_last_rose_to_its_final_value() -> None:
    counts = [
        (2, Reached(10, 1)),
        (3, Reached(20, 2)),
        (2, Reached(30, 3)),
        (3, Reached(40, 4)),
        (3, Reached(50, 5)),
    ]
    assert last_reached(1, counts) == Reached(40, 4)


def test_after_a_take_back_the_older_rise_holds_again() -> None:
    counts = [(2, Reached(10, 1)), (3, Reached(20, 2)), (2, Reached(30, 3))]
    assert last_reached(1, counts) == Reached(10, 1)


def test_a_count_that_only_fell_back_to_the_deal_was_never_reached() -> None:
    assert last_reached(1, []) is None
    assert last_reached(1, [(1, Reached(10, 1))]) is None
    assert last_reached(1, [(2, Reached(10, 1)), (1, Reached(20, 2))]) is None


racers = st.lists(
    st.builds(
        racer,
        st.text("abcd", min_size=1, max_size=4),
        st.integers(0, 3),
        st.none() | st.integers(0, 3),
        st.integers(1, 3),
    ),
    unique_by=lambda one: one.player,
    max_size=6,
)


@given(racers, st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_input(
    field: list[RacerScore], chance: Random
) -> None:
    shuffled = list(field)
    chance.shuffle(shuffled)
    assert ranking(CANFIELD, shuffled) == ranking(CANFIELD, field)


@given(racers)
def test_a_place_is_one_more_than_the_number_of_racers_ahead(field: list[RacerScore]) -> None:
    merits = {one.player: (-one.banked, one.reached or Reached(-1, 0)) for one in field}
    for row in ranking(CANFIELD, field):
        assert row.place == 1 + sum(merit < merits[row.player] for merit in merits.values())


# Which races may count for the leaderboards


@pytest.mark.parametrize(
    ("cap", "racers", "may_be"),
    [(10, 2, True), (10, 1, False), (0, 2, False)],
    ids=["open", "alone", "no time limit"],
)
def test_a_race_counts_with_a_time_limit_and_two_racers(
    cap: int, racers: int, may_be: bool
) -> None:
    assert may_be_ranked(cap=cap, racers=racers) is may_be
