"""Which of a store's errors pass by themselves."""

import pytest
from redis._parsers.base import BaseParser
from redis.exceptions import ResponseError

from saratoga_server.store.errors import PASSING, is_function_missing, passes


@pytest.mark.parametrize("word", PASSING)
def test_an_error_that_passes_is_known_by_its_first_word(word: str) -> None:
    assert passes(ResponseError(f"{word} and then some words"))


def test_an_error_from_which_redis_py_took_the_word_off_passes_too() -> None:
    for word in ("LOADING", "READONLY"):
        error = BaseParser.parse_error(f"{word} and then some words")
        assert type(error) is not ResponseError
        assert word not in str(error)
        assert passes(error)


@pytest.mark.parametrize(
    "text", ["", "ERR unknown command", "WRONGTYPE Operation", "NOAUTH", "BUSYGROUP there is one"]
)
def test_any_other_error_stays(text: str) -> None:
    assert not passes(ResponseError(text))


def test_a_function_that_was_flushed_is_known_by_the_reply() -> None:
    assert is_function_missing(ResponseError("Function not found"))
    assert is_function_missing("ERR Function not found")
    assert not is_function_missing(ResponseError("ERR unknown command"))
