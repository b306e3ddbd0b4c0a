"""Players that make moves without pause at many tables, and keep the acknowledged moves."""

import asyncio
from collections.abc import Callable, Sequence

from kit.running_race import ANNA, move, running_race
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store.opening import Store

TABLES = [f"mint-otter-{number}" for number in range(10, 34)]
"""Enough tables for every primary of a cluster to have some."""


class Movers:
    """Players that make moves at many tables; every primary of a cluster holds some tables."""

    def __init__(self, store: Store, tables: Sequence[str] = TABLES) -> None:
        self.store = store
        self.tables = tables
        self.acknowledged: dict[str, list[str]] = {code: [] for code in tables}
        self.unanswered = 0
        """Commits whose outcome was unknown."""
        self.longest = 0.0
        """The longest time in seconds that a player waited for a move."""

    async def sit_down(self) -> None:
        for code in self.tables:
            await running_race(self.store, code=code)

    async def _move(self, code: str) -> None:
        log = self.acknowledged[code]
        text = f"t{len(log)}>up"
        clock = asyncio.get_running_loop().time
        since, again = clock(), False
        while True:
            try:
                outcome = await self.store.commits.commit(move(text, len(log), code=code))
            except StoreUnavailable:
                self.unanswered += 1
                again = True
                continue
            expected = (CommitStatus.DONE, CommitStatus.REPEAT) if again else (CommitStatus.DONE,)
            assert outcome.status in expected, (code, len(log), outcome)
            log.append(text)
            self.longest = max(self.longest, clock() - since)
            return

    async def move_until(self, enough: Callable[[], bool]) -> None:
        async def keep_on(code: str) -> None:
            while not enough():
                await self._move(code)

        async with asyncio.TaskGroup() as group:
            for code in self.tables:
                group.create_task(keep_on(code))

    async def rounds(self, number: int, tables: Sequence[str] = ()) -> None:
        """Wait until each of these tables, or every table, has this many further moves."""
        goal = {code: len(self.acknowledged[code]) + number for code in tables or self.tables}

        def reached() -> bool:
            return all(len(self.acknowledged[code]) >= enough for code, enough in goal.items())

        while not reached():  # noqa: ASYNC110 - a count, without an event
            await asyncio.sleep(0.001)

    async def check(self, store: Store) -> None:
        """Check that the store has every acknowledged move once, numbered without gaps."""
        for code, log in self.acknowledged.items():
            board = await store.boards.load_board(code, 1, ANNA)
            assert board is not None, code
            assert [entry.text for entry in board.entries] == log, code
            assert [entry.number for entry in board.entries] == list(range(1, len(log) + 1)), code
