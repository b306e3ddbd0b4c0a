"""The state of a session after invented events."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replaced

from kit.session_states import (
    CAP,
    CODE,
    RACE,
    START,
    YOU,
    board,
    opening,
    outcome,
    player,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.net.connection import LinkState
from saratoga_client.session.own_board import with_move
from saratoga_client.session.state import (
    MAX_POINTS,
    MOST_SEATS,
    SessionState,
    confirm,
    first_state,
    link_changed,
    next_state,
    race_clock,
)
from saratoga_client.session.state_store import StateStore, StateStoreClosed
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW
from saratoga_rules.play import play

DEAL = opening()
DRAWN = play(GAMES["canfield"], DEAL, DRAW)


def changed(version: int, phase: str, race: str = RACE, now: int = START) -> events.TableChanged:
    return events.TableChanged(table=table(phase=phase, version=version, race=race), now=now)


def gathered() -> SessionState:
    return state_after(first=snapshot(shown=table(phase="gathering")))


def test_the_deal_starts_the_race_clock() -> None:
    present = next_state(gathered(), changed(2, "countdown"), START - 5000)
    assert present.own is None
    dealt = events.BoardChanged(board=board(), start_at=START, deadline=START + CAP, now=START)
    # The deal and the change of the table may arrive in either order.
    for order in ((changed(3, "running"), dealt), (dealt, changed(3, "running"))):
        running = present
        for event in order:
            running = next_state(running, event, START)
        assert running.own is not None
        assert running.own.may_move
        assert race_clock(running, START + 1000) == (0, 1000, CAP - 1000)


@pytest.mark.parametrize(
    ("phase", "now", "until_start", "elapsed", "left"),
    [
        ("countdown", START - 5000, 5000, 0, CAP),
        ("countdown", START + 50, 0, 50, CAP - 50),
        ("running", START, 0, 0, CAP),
        ("running", START + 61_000, 0, 61_000, CAP - 61_000),
        ("running", START + CAP + 9, 0, CAP + 9, 0),
        ("running", START - 300, 300, 0, CAP),
        ("gathering", START, 0, 0, None),
        ("over", START + 1000, 0, 0, None),
    ],
)
def test_the_clock_shows_the_time_that_the_server_allows(
    phase: str, now: int, until_start: int, elapsed: int, left: int | None
) -> None:
    present = state_after(first=snapshot(shown=table(phase=phase)))
    assert race_clock(present, now) == (until_start, elapsed, left)


@given(st.lists(st.integers(-3000, CAP + 3000), max_size=8), st.integers(0, CAP))
def test_reconnecting_does_not_change_the_clock(pauses: list[int], now: int) -> None:
    present = state_after()
    for number, pause in enumerate(pauses):
        present = link_changed(present, LinkState.RECONNECTING)
        again = snapshot("y1 =a1 =r1", board(), table(version=2 + number), now=START + pause)
        present = next_state(present, again, START + pause)
        present = link_changed(present, LinkState.CONNECTED)
    assert race_clock(present, START + now) == (0, now, CAP - now)


def test_a_connection_that_is_back_ends_the_announcement() -> None:
    present = next_state(state_after(), events.Announcement(text="Down at nine."), START)
    assert present.announcement == "Down at nine."
    present = link_changed(present, LinkState.RECONNECTING)
    assert present.announcement == "Down at nine."
    present = link_changed(present, LinkState.CONNECTED)
    assert present.announcement == ""
    assert link_changed(present, LinkState.CONNECTED) is present


def test_the_end_of_the_race_ends_the_own_board_without_an_event_of_its_own() -> None:
    present = state_after()
    assert present.own is not None
    present = replace(present, own=with_move(present.own, DRAW))
    present = next_state(
        present, events.RaceOver(outcome=outcome("a12 y1:out-of-time")), START + CAP
    )
    assert present.own is not None
    assert present.own.state == "out-of-time"
    assert not present.own.may_move
    # The answer to the unconfirmed move still counts and does not reopen the board.
    late = confirm(present, board(DRAWN, 1)).own
    assert late is not None
    assert (late.count, late.state, late.in_flight) == (1, "out-of-time", ())
    refused = confirm(present, board(DEAL, 1, "out-of-time")).own
    assert refused is not None
    assert refused.taken_back == "The draw was taken back: your board had ended: out of time."


def test_the_next_gathering_clears_the_board() -> None:
    present = replace(state_after(standings("a9 y3 r1")), is_new_best=True)
    present = next_state(present, changed(7, "gathering", f"{CODE}/2"), START + 99_000)
    assert present.own is None
    assert present.history == {}
    assert not present.is_new_best


def test_events_of_other_tables_and_races_change_nothing() -> None:
    present = state_after()
    other = standings("a9 y3", race="mint-otter-42/9")
    assert next_state(present, other, START) is present
    old = events.TableChanged(table=table(version=0, phase="over"), now=START)
    assert next_state(present, old, START) is present


def test_a_race_of_an_unknown_game_is_followed_without_a_board() -> None:
    newer = replaced(table(), settings=replaced(table().settings, game="golf"))
    beside = first_state(YOU, snapshot("", board(), newer))
    assert beside.game is None
    assert beside.own is None


def test_the_history_keeps_every_racers_points_up_to_a_limit() -> None:
    steps = [standings(f"a{count} y1") for count in range(1, 50)] * 10
    present = state_after(*steps, every=100)
    climb = present.history[player("a")]
    assert len(climb) <= MAX_POINTS
    assert [at for at, _ in climb] == sorted(at for at, _ in climb)
    assert [banked for _, banked in present.history[YOU]] == [1]


def test_the_course_of_the_race_has_a_bound_whatever_racers_the_server_invents() -> None:
    state = state_after()
    for number in range(3):
        invented = [
            events.Standing(
                player=f"{number}{place:015}",
                place=place,
                banked=1,
                net=-45,
                state="racing",
                head="0" * 16,
            )
            for place in range(1, 3 * MOST_SEATS)
        ]
        state = next_state(state, events.Standings(race=RACE, standings=invented), START)
        assert len(state.history) == MOST_SEATS
        assert f"{number}{1:015}" in state.history


FIRST, SECOND, THIRD = (state_after(standings(each)) for each in ("a1", "a5 y3 r1", "a5 y4 r1"))


async def test_a_slow_reader_gets_the_newest_state_and_always_the_last() -> None:
    store = StateStore(lambda: START)
    states = store.states()
    store.replace(FIRST)
    assert await anext(states) == FIRST
    store.replace(FIRST)
    reading = asyncio.ensure_future(anext(states))
    await asyncio.sleep(0)
    assert not reading.done(), "nothing has changed"
    store.replace(SECOND)
    store.replace(THIRD)
    assert await reading == THIRD
    every = store.states(every=True)
    assert await anext(every) == THIRD
    for state in (SECOND, FIRST):
        store.replace(state)
    store.close()
    assert [state async for state in states] == [FIRST]
    assert [state async for state in every] == [SECOND, FIRST]


async def test_closing_the_store_ends_every_wait() -> None:
    store = StateStore(lambda: START)
    waiting = asyncio.create_task(store.until(lambda: False))
    await asyncio.sleep(0)
    store.close()
    with pytest.raises(StateStoreClosed):
        await waiting
    with pytest.raises(StateStoreClosed):
        await store.until(lambda: False)
