"""The moments of a race: each is told once, and none from the time before or from an absence."""

from dataclasses import replace

import msgspec
import pytest

from kit.session_states import CAP, START, board, outcome, snapshot, standings, state_after, table
from saratoga_client.net.link_state import LinkState
from saratoga_client.session.moments import (
    LAST_MINUTE,
    LATE,
    QUIET,
    SeenMoments,
    next_moment,
    until_last_minute,
    with_last_minute,
)
from saratoga_client.session.state import SessionState, link_changed, next_state
from saratoga_protocol import events

ALONE = snapshot("a5 y3 r1", board())


def told(state: SessionState, *steps: tuple[int, events.AnyEvent]) -> list[str]:
    """Return the moments while these events come, each some milliseconds after the start."""
    seen, found = next_moment(SeenMoments(), state, START)
    assert found is None, "what happened before is not told"
    texts = []
    for at, event in steps:
        state = next_state(state, event, START + at)
        seen, found = next_moment(seen, state, START + at)
        texts += [] if found is None else [found.text]
    return texts


def test_a_new_leader_is_a_moment() -> None:
    steps = [(5_000, standings("y6 a5 r1")), (9_000, standings("a7 y6 r1"))]
    assert told(state_after(first=ALONE), *steps) == [
        "You take the lead with 6.",
        "ana takes the lead with 7.",
    ]


def test_the_first_state_of_another_race_has_no_moment() -> None:
    led = next_state(state_after(first=ALONE), standings("y6 a5 r1"), START + 5_000)
    seen, _ = next_moment(SeenMoments(), state_after(first=ALONE), START)
    assert next_moment(seen, led, START + 5_000)[1] is not None
    before = replace(seen, race="mint-otter-42/99")
    assert next_moment(before, led, START + 5_000)[1] is None


def test_a_lead_that_changes_back_within_a_second_is_told_once() -> None:
    words = ("y6 a5 r1", "a7 y6 r1", "y8 a7 r1", "a9 y8 r1", "y9 a9 r1")
    steps = [(5_000 + 200 * at, standings(word)) for at, word in enumerate(words)]
    assert told(state_after(first=ALONE), *steps) == ["You take the lead with 6."]


def test_a_shared_lead_is_no_moment() -> None:
    assert told(state_after(first=ALONE), (5_000, standings("a5 =y5 r1"))) == []


def test_breaking_even_is_told_once_even_if_a_card_is_taken_back() -> None:
    first = snapshot("a19 y9 r1", board())
    steps = [
        (at, standings(word))
        for at, word in ((5_000, "a19 y10 r1"), (9_000, "a19 y9 r1"), (13_000, "a19 y10 r1"))
    ]
    assert told(state_after(first=first), *steps) == ["You broke even with 10."]


def test_who_sits_down_without_a_loss_does_not_break_even() -> None:
    steps = [(5_000, standings("a19 y13 r1"))]
    assert told(state_after(first=snapshot("a19 y12 r1", board())), *steps) == []


def test_a_broken_bank_comes_before_everything_else() -> None:
    steps = [(5_000, standings("y53 a52:won r1"))]
    assert told(state_after(first=snapshot("a51 y9 r1", board())), *steps) == [
        "ana broke the bank with 52, +$210."
    ]


def test_a_watcher_sees_the_moments_of_the_racers() -> None:
    first = snapshot("a5 r3", shown=table("ar", host="a"))
    assert told(state_after(first=first), (5_000, standings("r6 a5"))) == [
        "raj takes the lead with 6."
    ]


def test_the_last_minute_is_told_when_it_begins() -> None:
    state, last = state_after(first=ALONE), START + CAP - LAST_MINUTE
    seen, _ = next_moment(SeenMoments(), state, last - 1)
    seen, found = next_moment(seen, state, last)
    assert found is not None
    assert (found.text, found.is_last_minute) == ("The last minute.", True)
    assert next_moment(seen, state, last + 250)[1] is None


@pytest.mark.parametrize("first_look", [0, LATE + 1])
def test_a_last_minute_that_has_begun_before_is_not_told(first_look: int) -> None:
    state, last = state_after(first=ALONE), START + CAP - LAST_MINUTE
    seen, _ = next_moment(SeenMoments(), state, last - (first_look > 0))
    assert next_moment(seen, state, last + first_look)[1] is None


def test_the_last_minute_is_in_the_feed_once_with_its_time() -> None:
    state, begins = state_after(first=ALONE), CAP - LAST_MINUTE
    for at in (begins - 1, begins + LATE, CAP):
        assert with_last_minute(state, START + at) is state
    told = with_last_minute(state, START + begins + 700)
    assert [(line.at, line.text) for line in told.feed_lines] == [(begins + 700, "the last minute")]
    assert with_last_minute(told, START + begins + 900) is told
    over = next_state(state, events.RaceOver(outcome=outcome("a5 y3 r1")), START + begins)
    assert with_last_minute(over, START + begins) is over


def test_the_time_until_the_last_minute_is_known_until_it_begins() -> None:
    state = state_after(first=ALONE)
    assert until_last_minute(state, START) == CAP - LAST_MINUTE
    assert until_last_minute(state, START + CAP - LAST_MINUTE) is None


def test_a_race_without_a_limit_has_no_last_minute() -> None:
    untimed = events.Snapshot(table=msgspec.structs.replace(table("ar"), deadline=0), now=START)
    state = state_after(first=untimed)
    assert until_last_minute(state, START) is None
    assert next_moment(SeenMoments(race=state.table.race), state, START + CAP)[1] is None


def test_what_happened_while_the_connection_was_lost_is_not_told() -> None:
    state = state_after(first=ALONE)
    seen, _ = next_moment(SeenMoments(), state, START)
    state = link_changed(state, LinkState.RECONNECTING, START + 1_000)
    seen, _ = next_moment(seen, state, START + 1_000)
    state = link_changed(state, LinkState.CONNECTED, START + 1_500)
    seen, found = next_moment(seen, state, START + 1_500)
    assert found is None
    state = next_state(state, standings("y6 a5 r1"), START + 1_600)
    seen, found = next_moment(seen, state, START + 1_600)
    assert found is None
    state = next_state(state, standings("a7 y6 r1"), START + 1_000 + QUIET + 4_000)
    _, found = next_moment(seen, state, START + 1_000 + QUIET + 4_000)
    assert found is not None
    assert found.text == "ana takes the lead with 7."


def test_a_finished_race_has_no_moments() -> None:
    state = state_after(first=ALONE)
    over = replace(state, table_view=replace(state.table_view, outcome=outcome("y9 a5 r1")))
    seen, _ = next_moment(SeenMoments(), state, START)
    later = next_state(over, standings("y9 a5 r1"), START + 5_000)
    assert next_moment(seen, later, START + 5_000)[1] is None
