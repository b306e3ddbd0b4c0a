"""How a no is said."""

import pytest

from saratoga_protocol.events import BoardView, Refused, View
from saratoga_protocol.refusals import REASONS
from saratoga_server.refusing import refused


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_has_its_sentence_and_says_whether_to_try_again(code: str) -> None:
    assert refused(code, 7) == Refused(
        re=7, code=code, message=REASONS[code].sentence, retry=REASONS[code].retry
    )


def test_what_was_wrong_this_time_takes_the_place_of_the_sentence() -> None:
    assert refused("bad_name", None, "A name has 2 to 20 characters.") == Refused(
        code="bad_name", message="A name has 2 to 20 characters."
    )


def test_the_present_board_goes_along() -> None:
    board = BoardView(
        race="mint-otter-42/1", count=3, view=View(stock=31), banked=1, net=-45, state="racing"
    )
    assert refused("stale_move", 7, board=board).board == board


def test_a_reason_outside_the_list_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        refused("because", 7)
