"""Encode batches of commits for the store: a whole batch is one MessagePack argument of one call.

Calls are assembled from parts that are encoded once; packing each call as a command would cost 0.2
us more per commit. At level `replicated` commands follow that ask how many replicas have the write.

WAIT counts the replicas that have the last write of its own connection. A repeated batch writes nothing,
and Valkey would answer at once, so a mark is written first.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgpack

from saratoga_server.ports import BoardCommit
from saratoga_server.store.keys import MARK, race_key
from saratoga_server.store.library import function_name
from saratoga_server.store.resp_connection import encode_command

REPLICA_TIMEOUT: Final = 1_000
"""Milliseconds to wait for the replicas before the write is sent again."""

Command = tuple[str | int, ...]


class CommitEncoder:
    """An encoder of requests: a Function call, and the question how many replicas have it."""

    def __init__(self, replicas: int) -> None:
        """`replicas`: the number of replicas that must have a write before it is durable."""
        commands = confirmation_commands(replicas)
        self._confirmation = b"".join(encode_command(*command) for command in commands)
        self.replicas = replicas
        self.confirmations = len(commands)
        """The number of replies that follow the reply to the call."""
        self._packer = msgpack.Packer(use_bin_type=False)
        self._function = _bulk("FCALL") + _bulk(function_name("commit_boards"))

    def encode(self, commits: Sequence[BoardCommit]) -> bytes:
        """Return the request for a batch.

        Raises `TypeError`, `ValueError` or `OverflowError` if a commit cannot be encoded.
        """
        places: dict[bytes, int] = {}
        boards = []
        for commit in commits:
            key = _bulk(race_key(commit.table, commit.race))
            boards.append(
                (
                    places.setdefault(key, len(places) + 1),
                    commit.player,
                    commit.epoch,
                    commit.after,
                    commit.banked,
                    commit.state,
                    commit.rises,
                    commit.late,
                    commit.entries,
                    commit.head,
                )
            )
        batch = self._packer.pack(boards)
        head = b"*%d\r\n%b%b" % (len(places) + 4, self._function, _bulk(str(len(places))))
        end = b"\r\n" + self._confirmation
        return b"".join((head, *places, b"$%d\r\n" % len(batch), batch, end))


def _bulk(text: str) -> bytes:
    encoded = text.encode()
    return b"$%d\r\n%b\r\n" % (len(encoded), encoded)


def confirmation_commands(replicas: int) -> tuple[Command, ...]:
    """Return the commands to send after a write on the same connection; none for no replica."""
    return (("SET", MARK, 1), ("WAIT", replicas, REPLICA_TIMEOUT)) if replicas else ()


def is_confirmed(replies: Sequence[Any], replicas: int) -> bool:
    """Return whether the replies to these commands say that so many replicas have the write."""
    if not replicas:
        return True
    marked, count = replies
    return (marked is True or marked == b"OK") and isinstance(count, int) and count >= replicas
