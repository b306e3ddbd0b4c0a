"""Heartbeats measure the server's time and show, at most every 15 s, that the player is there."""

import pytest

from saratoga_client.net.heartbeats import ACTIVE_EVERY, Heartbeats
from saratoga_client.net.server_time import ServerTime
from saratoga_protocol.events import Alive, Refused

NOON = 1_790_000_000_000
START = 1000.0


@pytest.fixture
def heartbeats() -> Heartbeats:
    return Heartbeats(ServerTime())


def is_active(heartbeats: Heartbeats, now: float, *, is_answered: bool = True) -> bool:
    """Return whether the heartbeat sent now says that the player is active."""
    heartbeat = heartbeats.next(now)
    assert heartbeat is not None
    if is_answered:
        heartbeats.answered(Alive(now=NOON), now)
    return heartbeat.active


def test_a_heartbeat_is_sent_only_after_the_answer_to_the_last_one() -> None:
    time = ServerTime()
    heartbeats = Heartbeats(time)
    heartbeats.answered(Alive(now=NOON + 5), START)
    assert heartbeats.next(START) is not None
    assert heartbeats.next(START + 2) is None
    heartbeats.answered(Alive(now=NOON), START + 0.5)
    assert time.round_trip == 0.5
    assert heartbeats.next(START + 2) is not None


def test_a_refused_heartbeat_is_sent_again_and_has_shown_nothing(heartbeats: Heartbeats) -> None:
    heartbeats.act(START)
    assert is_active(heartbeats, START, is_answered=False)
    heartbeats.answered(Refused(code="too_fast", message=""), START)
    assert is_active(heartbeats, START + 2)


def test_a_heartbeat_is_active_once_after_a_key(heartbeats: Heartbeats) -> None:
    assert not is_active(heartbeats, START)
    heartbeats.act(START + 1)
    assert is_active(heartbeats, START + 2)
    assert not is_active(heartbeats, START + 40)


def test_keys_are_shown_at_most_every_fifteen_seconds_and_the_last_one_always(
    heartbeats: Heartbeats,
) -> None:
    heartbeats.act(START)
    assert is_active(heartbeats, START)
    heartbeats.act(START + 5)
    assert not is_active(heartbeats, START + ACTIVE_EVERY - 1)
    assert is_active(heartbeats, START + ACTIVE_EVERY)
    assert not is_active(heartbeats, START + 3 * ACTIVE_EVERY)


def test_a_move_shows_the_activity_before_it(heartbeats: Heartbeats) -> None:
    heartbeats.act(START)
    heartbeats.move(START + 1)
    assert not is_active(heartbeats, START + ACTIVE_EVERY + 1)
    heartbeats.act(START + ACTIVE_EVERY + 2)
    assert is_active(heartbeats, START + ACTIVE_EVERY + 3)


def test_activity_that_the_server_may_not_know_is_shown_again_after_reconnecting(
    heartbeats: Heartbeats,
) -> None:
    heartbeats.act(START)
    assert is_active(heartbeats, START, is_answered=False)
    heartbeats.restart()
    assert is_active(heartbeats, START + 1)
    assert not is_active(heartbeats, START + 2 * ACTIVE_EVERY)


def test_a_move_after_a_heartbeat_shows_the_keys_before_it(heartbeats: Heartbeats) -> None:
    heartbeats.act(START)
    assert is_active(heartbeats, START + 1, is_answered=False)
    heartbeats.act(START + 2)
    heartbeats.move(START + 3)
    heartbeats.answered(Alive(now=NOON), START + 4)
    assert not is_active(heartbeats, START + 40)
