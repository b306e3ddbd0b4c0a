"""The store's errors: transient or permanent."""

import pytest
from redis.exceptions import (
    BusyLoadingError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)

from kit.stores import StoreServer
from saratoga_server.store.errors import TRANSIENT, is_function_missing, is_transient


@pytest.mark.parametrize("word", TRANSIENT)
def test_a_transient_error_is_recognised_by_its_first_word(word: str) -> None:
    assert is_transient(f"{word} and more words")
    assert is_transient(ResponseError(f"{word} and more words"))


@pytest.mark.parametrize(
    "error",
    [
        BusyLoadingError("and more words"),
        MasterDownError("and more words"),
        OutOfMemoryError("and more words"),
        ReadOnlyError("and more words"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_whose_first_word_redis_py_removed_is_recognised_by_its_class(
    error: RedisError,
) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "text", ["", "ERR unknown command", "WRONGTYPE Operation", "NOAUTH", "BUSYGROUP there is one"]
)
def test_any_other_error_is_permanent(text: str) -> None:
    assert not is_transient(ResponseError(text))


def test_a_missing_function_is_recognised_by_the_reply() -> None:
    assert is_function_missing(ResponseError("Function not found"))
    assert is_function_missing("ERR Function not found")
    assert not is_function_missing(ResponseError("ERR unknown command"))


LIBRARY = """#!lua name=tests
redis.register_function{function_name='write', callback=function(keys, args)
  return redis.call('SET', keys[1], 'value')
end}
"""


def answer(server: StoreServer) -> str:
    """Return the reply to a Function that writes."""
    return server.ask("FCALL", "write", "1", "key").decode().removeprefix("-")


@pytest.mark.parametrize(
    ("fault", "end", "word"),
    [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM"),
        ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "NOREPLICAS"),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "READONLY"),
    ],
)
def test_what_a_store_answers_to_a_function_for_a_while_is_transient(
    store_server: StoreServer, fault: str, end: str, word: str
) -> None:
    store_server.ask("FUNCTION", "LOAD", LIBRARY)
    assert answer(store_server) == "+OK"
    server_said = store_server.ask(*fault.split())
    assert server_said == b"+OK"
    found = answer(store_server)
    store_server.ask(*end.split())
    assert found.partition(" ")[0] == word
    assert is_transient(found)
