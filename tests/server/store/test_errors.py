"""The store's errors: transient or permanent."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

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

from kit.stores import SCRATCH, StoreServer, binaries, free_port
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


LIBRARY = """#!lua name=tests
redis.register_function{function_name='write', callback=function(keys, args)
  return redis.call('SET', keys[1], 'value')
end}
redis.register_function{function_name='sweep', callback=function(keys, args)
  redis.call('GET', args[1])
  return redis.call('SET', args[1], 'value')
end, flags={'allow-cross-slot-keys'}}
"""


def answers(server: StoreServer) -> list[str]:
    """Return the replies to a Function that is passed its key, and to one that finds its key out."""
    replies = (server.ask("FCALL", "write", "1", "key"), server.ask("FCALL", "sweep", "0", "key"))
    return [reply.decode().removeprefix("-") for reply in replies]


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
    assert answers(store_server) == ["+OK", "+OK"]
    server_said = store_server.ask(*fault.split())
    assert server_said == b"+OK"
    found = answers(store_server)
    store_server.ask(*end.split())
    assert [text.partition(" ")[0] for text in found] == [word, word]
    assert all(map(is_transient, found))


@pytest.fixture(params=list(binaries()))
def down_cluster(request: pytest.FixtureRequest) -> Iterator[StoreServer]:
    """A store in cluster mode that is down, because nobody serves its last slot."""
    binary = binaries()[request.param]
    assert binary is not None
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH) as folder:
        settings = {"cluster-enabled": "yes", "port": str(free_port())}
        server = StoreServer(binary, Path(folder), settings)
        server.start()
        server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16382")
        server.ask("FUNCTION", "LOAD", LIBRARY)
        yield server
        server.kill()


@pytest.mark.parametrize("reads", ["no", "yes"])
def test_what_a_function_says_in_a_cluster_that_is_down_is_transient(
    down_cluster: StoreServer, reads: str
) -> None:
    down_cluster.ask("CONFIG", "SET", "cluster-allow-reads-when-down", reads)
    with_key, without = answers(down_cluster)
    assert with_key.startswith("CLUSTERDOWN")
    assert without.startswith("ERR")
    assert is_transient(with_key)
    assert is_transient(without)
