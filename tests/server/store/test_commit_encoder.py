"""Batches of commits as requests: one Function call, then the replica's confirmation."""

from typing import Any

import hiredis
import msgpack
import pytest
from msgspec.structs import replace

from kit.running_race import CODE, move
from saratoga_server.store.commit_encoder import CommitEncoder
from saratoga_server.store.keys import race_key
from saratoga_server.store.library import function_name


def decoded(request: bytes) -> list[list[bytes]]:
    """Return the words of every command in a request."""
    reader = hiredis.Reader(notEnoughData=None)
    reader.feed(request)
    commands: list[Any] = []
    while (command := reader.gets()) is not None:
        commands.append(command)
    return commands


def test_commits_of_one_race_share_its_key() -> None:
    encoder = CommitEncoder(replicated=False, on_disk=False)
    other = replace(move("draw", 0, player="b"), race=2)
    commits = [move("draw", 0), move("t1>up", 1), other]
    ((call, function, keys, first, second, batch),) = decoded(encoder.encode(commits, resent=False))
    assert (call, function) == (b"FCALL", function_name("commit_boards").encode())
    assert (keys, first, second) == (
        b"2",
        race_key(CODE, 1).encode(),
        race_key(CODE, 2).encode(),
    )
    resent, boards = msgpack.unpackb(batch)
    assert resent is False
    assert [(board[0], board[-1]) for board in boards] == [
        (1, ["draw"]),
        (1, ["t1>up"]),
        (2, ["draw"]),
    ]


def test_a_repeated_request_is_marked() -> None:
    encoder = CommitEncoder(replicated=False, on_disk=False)
    ((*_, batch),) = decoded(encoder.encode([move("draw", 0)], resent=True))
    assert msgpack.unpackb(batch)[0] is True


@pytest.mark.parametrize("on_disk", [False, True])
def test_behind_the_call_a_replica_is_asked_for_its_confirmation(on_disk: bool) -> None:
    encoder = CommitEncoder(replicated=True, on_disk=on_disk)
    names = [command[0] for command in decoded(encoder.encode([move("draw", 0)], resent=False))]
    asked = [b"SET", b"WAIT", *([b"WAITAOF"] if on_disk else [])]
    assert names == [b"FCALL", *asked]
    assert encoder.confirmations == len(asked)


def test_a_commit_that_cannot_be_encoded_is_an_error() -> None:
    encoder = CommitEncoder(replicated=False, on_disk=False)
    commit = replace(move("draw", 0), banked=2**70)
    with pytest.raises(OverflowError):
        encoder.encode([commit], resent=False)
