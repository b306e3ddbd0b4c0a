"""Commits in batches: encoded, confirmed, and what to do with each error."""

from typing import Any

import pytest

from kit.running_race import ANNA, BERT, move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import CommitStatus
from saratoga_server.store.client import is_confirmed, is_transient
from saratoga_server.store.commits import Commits
from saratoga_server.store.opening import open_store

# Commits to one primary: those of one turn of the event loop share a request


async def test_commits_of_one_turn_share_a_request(store_server: StoreServer) -> None:
    batches: list[int] = []
    async with open_store(store_server.url, on_batch=batches.append) as store:
        assert isinstance(store.commits, Commits)
        await running_race(store)
        one, two = (
            store.commits.commit(move("draw", 0)),
            store.commits.commit(move("draw", 0, player=BERT)),
        )
        assert [(await each).status for each in (one, two)] == [CommitStatus.DONE] * 2
        assert batches == [2]
        third = store.commits.commit(move("draw", 1, player=ANNA))
        assert (await third).length == 2
        assert batches == [2, 1]


# Batches of commits as requests: one Function call, then the replica's confirmation


@pytest.mark.parametrize(
    ("replicas", "replies", "confirmed"),
    [
        (0, (), True),
        (1, (b"OK", 1), True),
        (2, (True, 2), True),
        pytest.param(2, (b"OK", 1), False, id="too few in time"),
        pytest.param(1, (Exception("OOM no memory"), 1), False, id="the mark was not written"),
        pytest.param(1, (b"OK", Exception("ERR WAIT cannot be used")), False, id="none was asked"),
    ],
)
def test_a_write_is_confirmed_by_enough_replicas(
    replicas: int, replies: tuple[Any, ...], confirmed: bool
) -> None:
    assert is_confirmed(replies, replicas) == confirmed


# The store's errors: transient or permanent


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
