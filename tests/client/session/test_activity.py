"""A racer without a key is warned twice, a host between races once, and only if the server would act."""

from dataclasses import replace

import pytest
from msgspec import structs

from kit.session_states import START, board, outcome, player, seat, snapshot, state_after, table
from saratoga_client.session.activity import Activity, may_end_as_idle, may_lose_host
from saratoga_client.session.state import SessionState, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_protocol.events import RaceOver, Snapshot


def sent(*seats: str, phase: str = "running", idle_since: float = 0) -> Snapshot:
    seated = [seat(each) for each in seats or "ya"]
    shown = snapshot("y4 a3", board(), table(phase=phase, seats=seated))
    return structs.replace(shown, idle_since=START + int(idle_since * 1000))


def racing(*seats: str, phase: str = "running") -> SessionState:
    return state_after(first=sent(*seats, phase=phase))


class Watched:
    """The warnings of a racer, with a server's clock that the test advances."""

    def __init__(self, first: SessionState) -> None:
        self.store = StateStore()
        self.time = START
        self.activity = Activity(self.store, lambda: self.time)
        self.store.replace(first)
        self.activity.check()

    def left_at(self, seconds: float) -> int:
        """Return the warning at this time of the race; 0: none."""
        self.time = START + int(seconds * 1000)
        self.activity.check()
        assert self.store.state is not None
        return self.store.state.idle_left


def test_a_racer_is_warned_after_two_minutes_and_again_after_two_and_three_quarters() -> None:
    watched = Watched(racing())
    warnings = [watched.left_at(at) for at in (119.9, 120, 150, 164.9, 165, 179, 185)]
    assert warnings == [0, 60, 60, 60, 15, 15, 15]


def test_a_sign_of_activity_ends_the_warning_and_the_time_counts_anew() -> None:
    watched = Watched(racing())
    assert watched.left_at(130) == 60
    watched.activity.note()
    assert watched.store.state is not None
    assert watched.store.state.idle_left == 0
    assert [watched.left_at(at) for at in (249.9, 250)] == [0, 60]


def test_the_time_counts_from_the_last_start_of_the_server() -> None:
    watched = Watched(racing())
    assert watched.left_at(130) == 60
    assert watched.store.state is not None
    back = next_state(watched.store.state, sent(idle_since=140), START + 141_000)
    watched.store.replace(back)
    assert [watched.left_at(at) for at in (141, 259.9, 260, 305)] == [0, 0, 60, 15]


def test_a_program_that_starts_in_mid_race_counts_from_the_last_sign_that_the_server_knows() -> (
    None
):
    watched = Watched(state_after(first=sent(idle_since=5)))
    assert [watched.left_at(at) for at in (124.9, 125)] == [0, 60]
    watched.activity.note()
    assert [watched.left_at(at) for at in (244.9, 245)] == [0, 60]


def test_the_time_counts_only_while_the_server_would_end_the_board() -> None:
    watched = Watched(racing())
    watched.store.replace(racing("y"))
    assert watched.left_at(500) == 0
    watched.store.replace(racing())
    assert [watched.left_at(at) for at in (619, 620)] == [0, 60]
    watched.store.replace(state_after(RaceOver(outcome=outcome("y4 a3")), first=snapshot("y4 a3")))
    assert watched.left_at(621) == 0


@pytest.mark.parametrize(
    "state",
    [
        racing("y"),
        replace(racing(), own=None),
        racing(phase="gathering"),
        state_after(first=snapshot("y4 a3", board(state="cashed out"))),
    ],
    ids=["alone", "watching", "between races", "ended"],
)
def test_only_a_racer_among_others_may_be_idle(state: SessionState) -> None:
    assert not may_end_as_idle(state)
    assert may_end_as_idle(racing())
    assert player("y") == state.player


# A host between races


def waiting(*seats: str, phase: str = "gathering", host: str = "y") -> SessionState:
    seated = [seat(each) for each in seats or "ya"]
    return state_after(first=snapshot(shown=table(phase=phase, seats=seated, host=host)))


@pytest.mark.parametrize("phase", ["gathering", "over"])
def test_a_host_between_races_is_warned_once_a_minute_before_another_becomes_host(
    phase: str,
) -> None:
    watched = Watched(waiting(phase=phase))
    watched.activity.note()
    warnings = [watched.left_at(at) for at in (119.9, 120, 165, 179, 300)]
    assert warnings == [0, 60, 60, 60, 60]
    watched.activity.note()
    assert [watched.left_at(at) for at in (300, 419.9, 420)] == [0, 0, 60]
    watched.store.replace(waiting(phase=phase, host="a"))
    assert watched.left_at(421) == 0


def test_a_hosts_time_counts_from_the_end_of_the_race_and_from_the_first_friend() -> None:
    watched = Watched(racing())
    assert watched.left_at(170) == 15
    watched.store.replace(waiting(phase="over"))
    assert [watched.left_at(at) for at in (170, 289.9, 290)] == [0, 0, 60]
    watched.store.replace(waiting("y"))
    assert watched.left_at(500) == 0
    watched.store.replace(waiting())
    assert [watched.left_at(at) for at in (500, 619.9, 620)] == [0, 0, 60]


def test_a_host_whose_program_starts_counts_from_what_the_server_knows() -> None:
    first = structs.replace(
        snapshot(shown=table(phase="gathering", seats=[seat("y"), seat("a")], host="y")),
        idle_since=START + 5_000,
    )
    watched = Watched(state_after(first=first))
    assert [watched.left_at(at) for at in (124.9, 125)] == [0, 60]
    assert watched.store.state is not None
    back = structs.replace(first, idle_since=START + 130_000)
    watched.store.replace(next_state(watched.store.state, back, START + 130_000))
    assert [watched.left_at(at) for at in (131, 250)] == [0, 60]


@pytest.mark.parametrize(
    "state",
    [
        waiting("y"),
        waiting(host="a"),
        waiting(phase="countdown"),
        state_after(
            first=snapshot(shown=table(phase="gathering", seats=[seat("y"), seat("a", bot=True)]))
        ),
        racing(),
    ],
    ids=["alone", "a guest", "in the countdown", "among bots", "in a race"],
)
def test_only_a_host_for_whom_people_wait_may_lose_the_place(state: SessionState) -> None:
    assert not may_lose_host(state)
    assert may_lose_host(waiting())
