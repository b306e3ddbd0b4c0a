"""Table codes: easy to say, to type and to distinguish."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_server.domain.table_codes import FIRST_WORDS, SECOND_WORDS, table_code

# the pattern of `saratoga_protocol.commands.Code`
CODE = re.compile(r"[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}")


@pytest.mark.parametrize("words", [FIRST_WORDS, SECOND_WORDS])
def test_there_are_enough_words_and_none_twice(words: tuple[str, ...]) -> None:
    assert len(words) >= 200
    assert len(set(words)) == len(words)


def test_no_word_can_be_taken_for_one_of_the_other_list() -> None:
    assert not set(FIRST_WORDS) & set(SECOND_WORDS)


def test_every_word_is_short_and_of_plain_letters() -> None:
    words = (*FIRST_WORDS, *SECOND_WORDS)
    assert [word for word in words if not re.fullmatch("[a-z]{3,8}", word)] == []


def drawn(*numbers: int) -> Callable[[int], int]:
    """A random source that returns these numbers."""
    left = list(numbers)

    def chance(limit: int) -> int:
        return left.pop(0) % limit

    return chance


@given(st.tuples(*[st.integers(min_value=0)] * 3))
def test_every_code_is_a_code_on_the_wire(numbers: tuple[int, int, int]) -> None:
    assert CODE.fullmatch(table_code(drawn(*numbers)))


def test_the_first_and_the_last_code() -> None:
    assert table_code(drawn(0, 0, 0)) == "agile-acorn-10"
    assert table_code(drawn(199, 199, 89)) == "sunny-raccoon-99"


def test_every_choice_is_asked_of_chance() -> None:
    limits: list[int] = []

    def chance(limit: int) -> int:
        limits.append(limit)
        return 0

    table_code(chance)
    assert limits == [len(FIRST_WORDS), len(SECOND_WORDS), 90]
