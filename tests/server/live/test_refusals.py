"""Refusals as events."""

import pytest

from saratoga_protocol.refusals import REASONS
from saratoga_server.live.refusals import refused, too_much


@pytest.mark.parametrize("code", REASONS)
def test_every_refusal_has_a_sentence_and_says_whether_to_retry(code: str) -> None:
    answer = refused(code, 7)
    assert (answer.re, answer.code) == (7, code)
    assert (answer.message, answer.retry) == (REASONS[code].sentence, REASONS[code].retry)


@pytest.mark.parametrize("code", REASONS)
def test_every_refusal_to_be_retried_and_no_other_names_a_wait(code: str) -> None:
    answer = refused(code, 7)
    assert (answer.wait > 0) == answer.retry


def test_a_detail_replaces_the_sentence_of_the_code() -> None:
    assert refused("bad_move", None, "No.").message == "No."


def test_an_unlisted_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        refused("because", 1)


@pytest.mark.parametrize(("wait", "seconds"), [(0.2, 1), (2.0, 2), (59.1, 60)])
def test_a_limit_names_the_wait_in_whole_seconds(wait: float, seconds: int) -> None:
    refusal = too_much("Too many tables were opened.", wait)
    assert (refusal.code, refusal.wait) == ("too_fast", wait)
    assert refusal.detail == f"Too many tables were opened. Wait {seconds} s."
    answer = refused(refusal.code, 7, refusal.detail, wait=refusal.wait)
    assert (answer.retry, answer.wait) == (True, round(wait * 1000))
