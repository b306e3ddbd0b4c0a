"""Which ends of a connection are for good."""

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


def too_long(echo: Close | None) -> ConnectionClosedError:
    """This end hung up over an event; the house may have had time to say goodbye."""
    own = Close(1009, "frame exceeds limit")
    return ConnectionClosedError(echo, own, None if echo is None else False)


def status(code: int) -> InvalidStatus:
    return InvalidStatus(Response(code, "", Headers()))


@pytest.mark.parametrize("close", CLOSE_CODES, ids=[str(close.code) for close in CLOSE_CODES])
def test_the_houses_close_codes_are_obeyed(close: CloseCode) -> None:
    final = final_error(URL, closed(close.code, close.reason))
    if close.code in MAY_RECONNECT:
        assert final is None
    else:
        assert isinstance(final, ServerClosed)
        assert (final.code, final.reason) == (close.code, close.reason)


@pytest.mark.parametrize(
    "trouble",
    [
        ConnectionClosedError(None, None),
        closed(1000),
        closed(1001),
        closed(1011),
        closed(1012),
        too_long(None),
        too_long(Close(1009, "")),
        status(500),
        status(503),
        status(429),
        ConnectionRefusedError(),
        ConnectionResetError(),
        socket.gaierror(),
        TimeoutError(),
        UnusableConnection("nothing heard"),
        CommandRefused(events.Refused(code="draining", message="", retry=True)),
    ],
    ids=repr,
)
def test_what_passes_by_itself_is_no_reason_to_give_up(trouble: Exception) -> None:
    assert final_error(URL, trouble) is None


@pytest.mark.parametrize(
    ("trouble", "end"),
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
def test_what_would_come_again_is_the_end(trouble: Exception, end: type[Exception]) -> None:
    assert isinstance(final_error(URL, trouble), end)


@pytest.mark.parametrize(
    "trouble",
    [
        NegotiationError(),
        InvalidStatus(Response(400, "", Headers(), b"invalid subprotocol; expected one of others")),
    ],
    ids=repr,
)
def test_a_house_of_another_version_is_known_as_one(trouble: Exception) -> None:
    final = final_error(URL, trouble)
    assert isinstance(final, ServerClosed)
    assert final.is_of_another_version


def test_whose_fault_a_frame_too_long_was_is_known() -> None:
    assert was_event_too_large(too_long(None))
    assert was_event_too_large(too_long(Close(1009, "")))
    assert not was_event_too_large(closed(1009))
    echoed = ConnectionClosedError(Close(1009, ""), Close(1009, ""), rcvd_then_sent=True)
    assert not was_event_too_large(echoed)


def test_who_is_sent_to_another_node_has_not_failed() -> None:
    assert was_asked_to_reconnect(closed(refusals.RESTARTING.code))
    assert was_asked_to_reconnect(closed(1012))
    assert not was_asked_to_reconnect(closed(refusals.TOO_SLOW.code))
    assert not was_asked_to_reconnect(closed(1006))
    assert not was_asked_to_reconnect(ConnectionClosedError(None, None))
    assert not was_asked_to_reconnect(ConnectionRefusedError())


def untrusted() -> ssl.SSLCertVerificationError:
    trouble = ssl.SSLCertVerificationError(1, "certificate verify failed")
    trouble.verify_message = "self-signed certificate"
    return trouble


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (ConnectionRefusedError(111, "Connect call failed"), "nobody listens there"),
        (socket.gaierror(-2, "Name or service not known"), "no machine of that name"),
        (untrusted(), "its certificate is not trusted (self-signed certificate)"),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "no TLS is spoken there"),
        (TimeoutError("timed out during opening handshake"), "it gave no answer in time"),
        (ConnectionResetError(104, "Connection reset by peer"), "it hung up"),
        (OSError(113, "No route to host"), "No route to host"),
        (UnusableConnection(), "UnusableConnection"),
    ],
    ids=repr,
)
def test_a_failed_attempt_is_told_in_words(trouble: Exception, words: str) -> None:
    assert words in describe(trouble)
