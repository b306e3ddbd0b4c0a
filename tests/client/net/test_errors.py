from saratoga_client.net.errors import HouseClosed, Refused, Unreachable
from saratoga_protocol import events
from saratoga_protocol.refusals import TAKEN_OVER, WRONG_SUBPROTOCOL


def test_a_refusal_says_what_the_house_said() -> None:
    no = Refused(events.Refused(re=7, code="draining", message="Come again.", retry=True))
    assert (no.code, no.message, no.retry, no.board) == ("draining", "Come again.", True, None)
    assert str(no) == "draining: Come again."


def test_a_house_of_another_version_is_told_apart() -> None:
    assert HouseClosed(WRONG_SUBPROTOCOL.code, "").is_of_another_version
    assert not HouseClosed(TAKEN_OVER.code, "").is_of_another_version


def test_ends_are_told_in_words() -> None:
    assert str(HouseClosed(4500, "taken over")) == "taken over (4500)"
    assert str(Unreachable("ws://x", "nobody")) == "ws://x: nobody"
