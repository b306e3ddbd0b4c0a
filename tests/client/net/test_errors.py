from saratoga_client.net.errors import CommandRefused, ServerClosed, Unreachable
from saratoga_protocol import events
from saratoga_protocol.refusals import TAKEN_OVER, WRONG_SUBPROTOCOL


def test_a_refusal_has_the_fields_of_the_servers_event() -> None:
    refusal = CommandRefused(
        events.Refused(re=7, code="draining", message="Come again.", retry=True)
    )
    assert (refusal.code, refusal.message, refusal.retry, refusal.board) == (
        "draining",
        "Come again.",
        True,
        None,
    )
    assert str(refusal) == "draining: Come again."


def test_a_server_of_another_version_is_recognised_by_its_close_code() -> None:
    assert ServerClosed(WRONG_SUBPROTOCOL.code, "").is_of_another_version
    assert not ServerClosed(TAKEN_OVER.code, "").is_of_another_version


def test_errors_show_their_code_and_reason() -> None:
    assert str(ServerClosed(4500, "taken over")) == "taken over (4500)"
    assert str(Unreachable("ws://x", "no answer")) == "ws://x: no answer"
