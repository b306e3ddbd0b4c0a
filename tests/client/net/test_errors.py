from saratoga_client.net.errors import CommandRefused, ServerClosed, Unreachable
from saratoga_protocol import events
from saratoga_protocol.refusals import TAKEN_OVER, WRONG_SUBPROTOCOL


def test_a_refusal_says_what_the_house_said() -> None:
    no = CommandRefused(events.Refused(re=7, code="draining", message="Come again.", retry=True))
    assert (no.code, no.message, no.retry, no.board) == ("draining", "Come again.", True, None)
    assert str(no) == "draining: Come again."


def test_a_house_of_another_version_is_told_apart() -> None:
    assert ServerClosed(WRONG_SUBPROTOCOL.code, "").is_of_another_version
    assert not ServerClosed(TAKEN_OVER.code, "").is_of_another_version


def test_ends_are_told_in_words() -> None:
    assert str(ServerClosed(4500, "taken over")) == "taken over (4500)"
    assert str(Unreachable("ws://x", "nobody")) == "ws://x: nobody"
