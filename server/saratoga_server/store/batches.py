"""Moves packed for the store: a batch of them is one request, at the least cost Python allows.

The bytes are put together here, as the store reads them, because redis-py would take longer for
that than for everything else that is done for a move.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgpack

from saratoga_server.ports import BoardCommit, CommitOutcome
from saratoga_server.store.confirmations import Command, questions
from saratoga_server.store.keys import mark_key, partition, race_key
from saratoga_server.store.library import function_name

_RACES_REMEMBERED: Final = 2_000

Waiter = tuple[BoardCommit, asyncio.Future[CommitOutcome], float]
"""A commit, who awaits it, and until when (the loop's clock)."""


def _bulk(text: str) -> bytes:
    encoded = text.encode()
    return b"$%d\r\n%b\r\n" % (len(encoded), encoded)


def _packed(command: Command) -> bytes:
    return b"*%d\r\n%b" % (len(command), b"".join(_bulk(str(word)) for word in command))


class Batches:
    """Packs batches, each with what asks for replicas behind it."""

    def __init__(self, *, replicated: bool, on_disk: bool) -> None:
        self._replicated = replicated
        self._on_disk = on_disk
        self.questions = len(questions("", on_disk=on_disk)) if replicated else 0
        """Replies that come behind those to the calls."""
        self._packer = msgpack.Packer(use_bin_type=False)
        self._race_keys: dict[tuple[str, int], bytes] = {}
        self._command = b"$5\r\nFCALL\r\n" + _bulk(function_name("commit_boards"))
        self._heads: dict[int, bytes] = {}
        self._asking: dict[str, bytes] = {}

    def request(self, calls: Sequence[Sequence[Waiter]], *, again: bool) -> bytes:
        """One Function call for each of `calls`, in one piece.

        Raises `TypeError`, `ValueError` or `OverflowError` on what cannot be packed.
        """
        if len(calls) == 1 and not self._replicated:
            return self._call(calls[0], again=again)
        pieces = [self._call(call, again=again) for call in calls]
        if self._replicated:
            pieces.append(self._ask_at(calls[0][0][0]))
        return b"".join(pieces)

    def _call(self, waiters: Sequence[Waiter], *, again: bool) -> bytes:
        places: dict[bytes, int] = {}
        boards = []
        race_keys = self._race_keys
        for commit, _, _ in waiters:
            at = (commit.table, commit.race)
            key = race_keys.get(at)
            if key is None:
                key = self._remember_race(at)
            boards.append(
                (
                    places.setdefault(key, len(places) + 1),
                    commit.player,
                    commit.epoch,
                    commit.command_id,
                    commit.after,
                    commit.banked,
                    commit.state,
                    commit.rises,
                    commit.late,
                    commit.entries,
                )
            )
        batch = self._packer.pack((again, boards))
        head = self._heads.get(len(places)) or self._remember_head(len(places))
        return b"".join((head, *places, b"$%d\r\n" % len(batch), batch, b"\r\n"))

    def _ask_at(self, commit: BoardCommit) -> bytes:
        mark = mark_key(race_key(commit.table, commit.race))
        asking = self._asking.get(mark)
        if asking is None:
            asking = b"".join(map(_packed, questions(mark, on_disk=self._on_disk)))
            self._asking[mark] = asking
        return asking

    def _remember_head(self, keys: int) -> bytes:
        """How a request with so many keys begins."""
        head = self._heads[keys] = b"*%d\r\n%b%b" % (keys + 4, self._command, _bulk(str(keys)))
        return head

    def _remember_race(self, at: tuple[str, int]) -> bytes:
        if len(self._race_keys) >= _RACES_REMEMBERED:
            self._race_keys.clear()
        key = self._race_keys[at] = _bulk(race_key(*at))
        return key


def together(waiters: list[Waiter]) -> list[list[Waiter]]:
    """For a store by itself: all of them in one call."""
    return [waiters]


def by_partition(waiters: list[Waiter]) -> list[list[Waiter]]:
    """For a cluster, where no call may reach over two partitions."""
    calls: dict[int, list[Waiter]] = {}
    for waiter in waiters:
        calls.setdefault(partition(waiter[0].table), []).append(waiter)
    return list(calls.values())
