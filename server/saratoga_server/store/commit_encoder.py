"""Encode batches of commits for the store: a whole batch is one MessagePack argument of one call.

Calls are assembled from parts that are encoded once; packing each call as a command would cost 0.2
us more per commit. At level `replicated` commands follow that ask whether a replica has the write.

WAIT counts the replicas that have the writes of its own connection, so a mark is written first.
WAITAOF also waits for the replica's disk. Alone it takes a second, because the replica answers
before it has synced and again at its next tick. After WAIT has returned, it finds the write synced
(measured: 0.4 ms for both, 0.3 ms for WAIT alone).
"""

from collections.abc import Sequence
from typing import Any, Final

import msgpack

from saratoga_server.ports import BoardCommit
from saratoga_server.store.keys import MARK, race_key
from saratoga_server.store.library import function_name
from saratoga_server.store.resp_connection import encode_command

REPLICA_TIMEOUT: Final = 1_000
"""Milliseconds to wait for a replica before the write is sent again."""

Command = tuple[str | int, ...]


class CommitEncoder:
    """An encoder of requests: a Function call and questions for a replica's confirmation."""

    def __init__(self, *, replicated: bool, on_disk: bool) -> None:
        """`replicated`: a write is durable once a replica has it, `on_disk`: on its disk."""
        commands = confirmation_commands(on_disk=on_disk) if replicated else ()
        self._confirmation = b"".join(encode_command(*command) for command in commands)
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


def confirmation_commands(*, on_disk: bool) -> tuple[Command, ...]:
    """Return the commands to send after a write on the same connection."""
    commands: tuple[Command, ...] = (("SET", MARK, 1), ("WAIT", 1, REPLICA_TIMEOUT))
    return (*commands, ("WAITAOF", 1, 1, REPLICA_TIMEOUT)) if on_disk else commands


def is_confirmed(replies: Sequence[Any]) -> bool:
    """Return whether the replies to these commands say that at least one replica has the write."""
    marked, replicas, *synced = replies
    if not _is_ok(marked) or not isinstance(replicas, int) or replicas < 1:
        return False
    return all(isinstance(each, list) and len(each) == 2 and min(each) >= 1 for each in synced)


def _is_ok(reply: object) -> bool:
    return reply is True or reply == b"OK"
