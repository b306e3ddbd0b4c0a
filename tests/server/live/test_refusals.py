"""How a no is said."""

import pytest

from saratoga_protocol.refusals import REASONS
from saratoga_server.live.refusals import refused


@pytest.mark.parametrize("code", REASONS)
def test_every_no_has_its_sentence_and_says_whether_to_retry(code: str) -> None:
    answer = refused(code, 7)
    assert (answer.re, answer.code) == (7, code)
    assert (answer.message, answer.retry) == (REASONS[code].sentence, REASONS[code].retry)


def test_a_better_sentence_is_said_instead() -> None:
    assert refused("bad_move", None, "No.").message == "No."


def test_there_is_no_no_that_is_not_in_the_list() -> None:
    with pytest.raises(KeyError):
        refused("because", 1)
