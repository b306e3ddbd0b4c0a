"""The boards of races: logs of moves, appended to through `commits.py`."""

import asyncio
from collections.abc import Awaitable
from typing import Final

from saratoga_rules.standing import Reached, State
from saratoga_server.ports import (
    BoardCommit,
    CommitOutcome,
    LiveStanding,
    LogEntry,
    Millis,
    StoredBoard,
)
from saratoga_server.store.commits import Commits
from saratoga_server.store.keys import race_key
from saratoga_server.store.link import Link

READ_STEP: Final = 500
"""Entries that are read at once: about half a millisecond."""


class Boards:
    """The port `BoardStore`."""

    def __init__(self, link: Link, commits: Commits) -> None:
        self._link = link
        self._commits = commits

    def commit(self, board: BoardCommit) -> Awaitable[CommitOutcome]:
        return self._commits.submit(board)

    async def load_board(self, table: str, race: int, player: str) -> StoredBoard | None:
        # as a write is: who comes back is told what is stored as if it had been acknowledged
        stored = await self._link.write("load_board", (race_key(table, race),), player)
        if not stored:
            return None
        epoch, last_id, banked, state, start, *lines = stored
        entries: list[LogEntry] = []
        for first in range(0, len(lines), READ_STEP):
            entries += (_entry(line, int(start)) for line in lines[first : first + READ_STEP])
            if first + READ_STEP < len(lines):
                await asyncio.sleep(0)
        return StoredBoard(
            epoch=int(epoch),
            last_id=int(last_id),
            banked=int(banked),
            state=state.decode(),
            entries=tuple(entries),
        )

    async def load_standings(self, table: str, race: int) -> dict[str, LiveStanding]:
        stored = await self._link.read("load_standings", (race_key(table, race),))
        if not stored:
            return {}
        _start, *rows = stored
        return {
            player.decode(): _standing(banked, state, rose, length)
            for player, banked, state, rose, length in zip(*[iter(rows)] * 5, strict=True)
        }


def _entry(line: bytes, start: int) -> LogEntry:
    since, number, command_id, text = line.split(b" ", 3)
    return LogEntry(text.decode(), Millis(start + int(since)), int(number), int(command_id))


def _standing(banked: bytes, state: bytes, rose: bytes, length: bytes) -> LiveStanding:
    reached = Reached(*map(int, rose.split())) if rose else None
    return LiveStanding(int(length), int(banked), State(state.decode()), reached)
