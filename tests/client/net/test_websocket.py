"""Errors of a connection, its greeting, pauses, heartbeats and clock."""

import socket
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError, InvalidStatus, InvalidURI, NegotiationError
from websockets.frames import Close
from websockets.http11 import Response

from saratoga_client.net.errors import CommandRefused, ServerClosed, Unreachable
from saratoga_client.net.server_time import ACTIVE_EVERY, OBSERVATIONS, Heartbeats, ServerTime
from saratoga_client.net.timing import Backoff, Timing
from saratoga_client.net.websocket import (
    UnusableConnection,
    describe,
    final_error,
    was_asked_to_reconnect,
    was_event_too_large,
)
from saratoga_protocol import events, refusals
from saratoga_protocol.events import Alive, Refused
from saratoga_protocol.refusals import MAY_RECONNECT, CloseCode

URL = "ws://cards.example"

CLOSE_CODES = [code for code in vars(refusals).values() if isinstance(code, CloseCode)]


def closed(code: int, reason: str = "") -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, reason), None)


def too_large(echo: Close | None) -> ConnectionClosedError:
    """Return the error after the client refused a large event; the server may have echoed the close."""
    own = Close(1009, "frame exceeds limit")
    return ConnectionClosedError(echo, own, None if echo is None else False)


def status(code: int) -> InvalidStatus:
    return InvalidStatus(Response(code, "", Headers()))


@pytest.mark.parametrize("close", CLOSE_CODES, ids=[str(close.code) for close in CLOSE_CODES])
def test_the_servers_close_codes_are_obeyed(close: CloseCode) -> None:
    final = final_error(URL, closed(close.code, close.reason))
    if close.code in MAY_RECONNECT:
        assert final is None
    else:
        assert isinstance(final, ServerClosed)
        assert (final.code, final.reason) == (close.code, close.reason)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionClosedError(None, None),
        closed(1000),
        closed(1001),
        closed(1011),
        closed(1012),
        too_large(None),
        too_large(Close(1009, "")),
        status(500),
        status(503),
        status(429),
        ConnectionRefusedError(),
        ConnectionResetError(),
        socket.gaierror(),
        TimeoutError(),
        UnusableConnection("nothing received"),
        CommandRefused(events.Refused(code="draining", message="", retry=True)),
    ],
    ids=repr,
)
def test_a_temporary_error_is_not_final(error: Exception) -> None:
    assert final_error(URL, error) is None


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (closed(1002), ServerClosed),
        (closed(1003), ServerClosed),
        (closed(1007), ServerClosed),
        (closed(1009), ServerClosed),
        (NegotiationError(), ServerClosed),
        (status(400), Unreachable),
        (status(403), Unreachable),
        (status(404), Unreachable),
        (status(426), Unreachable),
        (InvalidURI(URL, "bad"), Unreachable),
        (ssl.SSLCertVerificationError(), Unreachable),
        (CommandRefused(events.Refused(code="banned", message="")), CommandRefused),
    ],
    ids=repr,
)
def test_an_error_that_would_come_again_is_final(error: Exception, end: type[Exception]) -> None:
    assert isinstance(final_error(URL, error), end)


@pytest.mark.parametrize(
    "error",
    [
        NegotiationError(),
        InvalidStatus(Response(400, "", Headers(), b"invalid subprotocol; expected one of others")),
    ],
    ids=repr,
)
def test_a_server_of_another_version_is_recognised(error: Exception) -> None:
    final = final_error(URL, error)
    assert isinstance(final, ServerClosed)
    assert final.is_of_another_version


def test_an_oversized_event_is_distinguished_from_an_oversized_command() -> None:
    assert was_event_too_large(too_large(None))
    assert was_event_too_large(too_large(Close(1009, "")))
    assert not was_event_too_large(closed(1009))
    echoed = ConnectionClosedError(Close(1009, ""), Close(1009, ""), rcvd_then_sent=True)
    assert not was_event_too_large(echoed)


def test_a_request_to_reconnect_is_not_a_failure() -> None:
    assert was_asked_to_reconnect(closed(refusals.RESTARTING.code))
    assert was_asked_to_reconnect(closed(1012))
    assert not was_asked_to_reconnect(closed(refusals.TOO_SLOW.code))
    assert not was_asked_to_reconnect(closed(1006))
    assert not was_asked_to_reconnect(ConnectionClosedError(None, None))
    assert not was_asked_to_reconnect(ConnectionRefusedError())


def untrusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(111, "Connect call failed"), "no server listens there"),
        (socket.gaierror(-2, "Name or service not known"), "its name was not found"),
        (untrusted(), "its certificate is not trusted (self-signed certificate)"),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "does not speak TLS"),
        (TimeoutError("timed out during opening handshake"), "it did not answer in time"),
        (ConnectionResetError(104, "Connection reset by peer"), "it closed the connection"),
        (OSError(113, "No route to host"), "No route to host"),
        (UnusableConnection(), "UnusableConnection"),
    ],
    ids=repr,
)
def test_a_failed_attempt_is_described_in_words(error: Exception, words: str) -> None:
    assert words in describe(error)


def test_the_first_wait_is_short_and_the_last_is_not_long() -> None:
    backoff = Backoff(first=0.1, largest=1.5)
    longest = [backoff.wait(failures, chance=lambda: 1.0) for failures in range(1, 8)]
    assert longest == [0.1, 0.2, 0.4, 0.8, 1.5, 1.5, 1.5]


@given(st.integers(1, 10**9), st.floats(0, 1))
def test_every_wait_is_within_its_limits(failures: int, chance: float) -> None:
    backoff = Backoff(first=0.1, largest=1.5, shortest=0.02)
    assert 0.02 <= backoff.wait(failures, lambda: chance) <= 1.5


def test_waits_are_random() -> None:
    backoff = Backoff(first=1.0, largest=8.0)
    assert backoff.wait(3, chance=lambda: 0.25) == 1.0


def test_errors_show_their_code_and_reason() -> None:
    assert str(ServerClosed(4500, "taken over")) == "taken over (4500)"
    assert str(Unreachable("ws://x", "no answer")) == "ws://x: no answer"


NOON_OF_HEARTBEATS = 1_790_000_000_000
START = 1000.0


@pytest.fixture
def heartbeats() -> Heartbeats:
    return Heartbeats(ServerTime())


def is_active(heartbeats: Heartbeats, now: float, *, is_answered: bool = True) -> bool:
    """Return whether the heartbeat sent now says that the player is active."""
    heartbeat = heartbeats.next(now)
    assert heartbeat is not None
    if is_answered:
        heartbeats.answered(Alive(now=NOON_OF_HEARTBEATS), now)
    return heartbeat.active


def test_a_heartbeat_is_sent_only_after_the_answer_to_the_last_one() -> None:
    time = ServerTime()
    heartbeats = Heartbeats(time)
    heartbeats.answered(Alive(now=NOON_OF_HEARTBEATS + 5), START)
    assert heartbeats.next(START) is not None
    assert heartbeats.next(START + 2) is None
    heartbeats.answered(Alive(now=NOON_OF_HEARTBEATS), START + 0.5)
    assert time.round_trip == 0.5
    assert heartbeats.next(START + 2) is not None


def test_a_refused_heartbeat_is_sent_again_and_has_shown_nothing(heartbeats: Heartbeats) -> None:
    heartbeats.act(START)
    assert is_active(heartbeats, START, is_answered=False)
    heartbeats.answered(Refused(code="too_fast", message=""), START)
    assert is_active(heartbeats, START + 2)


def test_keys_are_shown_at_most_every_fifteen_seconds_and_the_last_one_always(
    heartbeats: Heartbeats,
) -> None:
    heartbeats.act(START)
    assert is_active(heartbeats, START)
    heartbeats.act(START + 5)
    assert not is_active(heartbeats, START + ACTIVE_EVERY - 1)
    assert is_active(heartbeats, START + ACTIVE_EVERY)
    assert not is_active(heartbeats, START + 3 * ACTIVE_EVERY)


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
    heartbeats.answered(Alive(now=NOON_OF_HEARTBEATS), START + 4)
    assert not is_active(heartbeats, START + 40)


SERVER_SENDS_EVERY = 2.0
"""Seconds between two `alive` events of the server, as the protocol page promises."""


def test_one_late_sign_of_life_does_not_end_a_connection() -> None:
    timing = Timing()
    assert timing.silence > 2 * max(SERVER_SENDS_EVERY, timing.heartbeat_every)
    assert timing.answer_within > timing.silence + timing.greet_within


def test_an_answer_is_taken_as_exact_halfway_through_the_round_trip() -> None:
    clock = ServerTime()
    clock.observe(sent=10.0, received=10.2, server=50_000)
    assert clock.at(10.1) == 50_000
    assert clock.at(11.1) == 51_000


def test_the_fastest_answer_counts() -> None:
    clock = ServerTime()
    clock.observe(sent=10.0, received=10.02, server=50_000)
    clock.observe(sent=20.0, received=22.0, server=61_700)
    assert clock.at(20.0) == 59_990
    assert clock.round_trip == 2.0


def test_old_observations_are_dropped() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=0)
    for second in range(1, OBSERVATIONS + 1):
        clock.observe(sent=second, received=second + 0.5, server=second * 1000 + 5250)
    assert clock.at(100.0) == 105_000


def test_all_observations_of_another_node_can_be_dropped() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=7_000)
    clock.forget()
    assert clock.at(1.0) == 1_000
    assert clock.round_trip is None


def test_a_step_of_the_servers_clock_is_followed_at_once() -> None:
    for step in (-3_600_000, 3_600_000):
        clock = ServerTime()
        clock.observe(sent=0.0, received=0.0, server=10_000_000)
        clock.observe(sent=10.0, received=10.4, server=10_010_200 + step)
        assert clock.at(10.4) == 10_010_400 + step


def test_a_slow_answer_is_no_step() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=10_000_000)
    clock.observe(sent=10.0, received=20.0, server=10_019_999)
    assert clock.at(20.0) == 10_020_000
