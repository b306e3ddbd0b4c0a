"""The errors of a connection: permanent ones, and those after which a retry makes sense."""

import socket
import ssl

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import (
    ConnectionClosedError,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
)
from websockets.frames import Close
from websockets.http11 import Response

from saratoga_client.net.errors import CommandRefused, ServerClosed, Unreachable
from saratoga_client.net.websocket import (
    UnusableConnection,
    describe,
    final_error,
    was_asked_to_reconnect,
    was_event_too_large,
)
from saratoga_protocol import events, refusals
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
