"""Pings: a client that answers the last ping counts as alive."""

from saratoga_server.transport.frames import pack_ping
from saratoga_server.transport.pings import MOST_UNANSWERED, PING_EVERY, Pings


def payload(ping: bytes) -> bytes:
    assert ping == pack_ping(ping[2:])
    return ping[2:]


def test_a_ping_is_due_after_a_while_and_again() -> None:
    pings = Pings(now=0.0)
    assert not pings.is_due(PING_EVERY - 1)
    assert pings.is_due(PING_EVERY)
    pings.next(now=PING_EVERY)
    assert not pings.is_due(2 * PING_EVERY - 1)


def test_only_an_answer_to_the_last_ping_counts() -> None:
    pings = Pings(now=0.0)
    first, *_, last = [payload(pings.next(now=0.0)) for _ in range(MOST_UNANSWERED)]
    assert pings.are_unanswered
    for other in (first, b"", b"unasked"):
        pings.answer(other)
        assert pings.are_unanswered
    pings.answer(last)
    assert not pings.are_unanswered
