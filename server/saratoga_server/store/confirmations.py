"""How a primary is asked whether a replica has what was just written, and what it answers.

WAIT counts the replicas that have what this very connection wrote; without a write of its own it
says nothing, so a mark is written first. WAITAOF asks for the replica's disk too. Alone it lasts a
second: the replica answers before it has synced, and again at its next tick. Asked after WAIT has
returned, it finds the write synced (measured: 0.4 ms for both, 0.3 ms for WAIT alone).
"""

from collections.abc import Sequence
from typing import Any, Final

REPLICA_TIMEOUT: Final = 1_000
"""Milliseconds that a replica is waited for before the write is tried again."""

Command = tuple[str | int, ...]


def questions(mark: str, *, on_disk: bool) -> tuple[Command, ...]:
    """What is sent behind a write, on the same connection; `mark` is a key in its slot."""
    asked: tuple[Command, ...] = (("SET", mark, 1), ("WAIT", 1, REPLICA_TIMEOUT))
    return (*asked, ("WAITAOF", 1, 1, REPLICA_TIMEOUT)) if on_disk else asked


def confirmed(replies: Sequence[Any]) -> bool:
    """Whether the answers to those say that one replica at least has it."""
    marked, replicas, *synced = replies
    if not _is_ok(marked) or not isinstance(replicas, int) or replicas < 1:
        return False
    return all(isinstance(each, list) and len(each) == 2 and min(each) >= 1 for each in synced)


def _is_ok(reply: object) -> bool:
    return reply is True or reply == b"OK"
