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

from saratoga_client.net.errors import CommandRefused, ServerClosed, UnexpectedAnswer, Unreachable
from saratoga_client.net.timing import OBSERVATIONS, Backoff, ServerTime, Timing
from saratoga_client.net.websocket import (
    RECONNECT_CODES,
    UnusableConnection,
    describe,
    final_error,
    was_closed_with,
)
from saratoga_protocol import events, refusals
from saratoga_protocol.refusals import MAY_RECONNECT, CloseCode

URL = "ws://cards.example"

CLOSE_CODES = [code for code in vars(refusals).values() if isinstance(code, CloseCode)]


def closed(code: int, reason: str = "") -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, reason), None)


TOO_LARGE = ConnectionClosedError(None, Close(1009, "frame exceeds limit"))
"""The error after the client refused an event that is too long."""


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
        (TOO_LARGE, UnexpectedAnswer),
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
    assert final.code == refusals.WRONG_SUBPROTOCOL.code


def test_a_request_to_reconnect_is_not_a_failure() -> None:
    for error, is_asked in (
        (closed(refusals.RESTARTING.code), True),
        (closed(1012), True),
        (closed(refusals.TOO_SLOW.code), False),
        (ConnectionClosedError(None, None), False),
        (ConnectionRefusedError(), False),
    ):
        assert was_closed_with(error, RECONNECT_CODES) == is_asked


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
        (OSError(113, "No route to host"), "no machine answers there"),
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


SERVER_SENDS_EVERY = 2.0
"""Seconds between two `alive` events of the server, as the protocol page promises."""


def test_one_late_sign_of_life_does_not_end_a_connection() -> None:
    timing = Timing()
    assert timing.silence > 2 * max(SERVER_SENDS_EVERY, timing.heartbeat_every)
    assert timing.answer_within > timing.silence + timing.greet_within


EARLY = (0.0, 0.0, 10_000_000)


@pytest.mark.parametrize(
    ("observed", "at", "time"),
    [
        ([(10.0, 10.2, 50_000)], 10.1, 50_000),
        ([(10.0, 10.2, 50_000)], 11.1, 51_000),
        ([(10.0, 10.02, 50_000), (20.0, 22.0, 61_700)], 20.0, 59_990),
        (
            [(0.0, 0.0, 0), *((n, n + 0.5, n * 1000 + 5250) for n in range(1, OBSERVATIONS + 1))],
            *(100.0, 105_000),
        ),
        ([EARLY, (10.0, 10.4, 6_410_200)], 10.4, 6_410_400),
        ([EARLY, (10.0, 10.4, 13_610_200)], 10.4, 13_610_400),
        ([EARLY, (10.0, 20.0, 10_019_999)], 20.0, 10_020_000),
    ],
    ids=["halfway", "a second later", "fastest", "old", "step back", "step on", "slow is no step"],
)
def test_an_answer_tells_the_servers_time_halfway_through_its_round_trip(
    observed: list[tuple[float, float, int]], at: float, time: int
) -> None:
    clock = ServerTime()
    for sent, received, server in observed:
        clock.observe(sent=sent, received=received, server=server)
    assert clock.at(at) == time


def test_all_observations_of_another_node_can_be_dropped() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=7_000)
    clock.forget()
    assert clock.at(1.0) == 1_000
