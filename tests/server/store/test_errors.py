"""The store's errors: transient or permanent."""

import pytest
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from saratoga_server.store.errors import TRANSIENT, is_function_missing, is_transient


@pytest.mark.parametrize("word", TRANSIENT)
def test_a_transient_error_is_recognised_by_its_first_word(word: str) -> None:
    assert is_transient(f"{word} and more words")
    assert is_transient(ResponseError(f"{word} and more words"))


@pytest.mark.parametrize(
    "error",
    [
        AskError("1 127.0.0.1:1"),
        BusyLoadingError("and more words"),
        ClusterDownError("and more words"),
        MasterDownError("and more words"),
        MovedError("1 127.0.0.1:1"),
        OutOfMemoryError("and more words"),
        ReadOnlyError("and more words"),
        TryAgainError("and more words"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_whose_first_word_redis_py_removed_is_recognised_by_its_class(
    error: RedisError,
) -> None:
    assert is_transient(error)


def test_a_function_that_met_a_key_being_moved_may_be_called_again() -> None:
    assert is_transient("ERR Script attempted to access a non local key in a cluster node")


@pytest.mark.parametrize(
    "text", ["", "ERR unknown command", "WRONGTYPE Operation", "NOAUTH", "BUSYGROUP there is one"]
)
def test_any_other_error_is_permanent(text: str) -> None:
    assert not is_transient(ResponseError(text))


def test_a_missing_function_is_recognised_by_the_reply() -> None:
    assert is_function_missing(ResponseError("Function not found"))
    assert is_function_missing("ERR Function not found")
    assert not is_function_missing(ResponseError("ERR unknown command"))
