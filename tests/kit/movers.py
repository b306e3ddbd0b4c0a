"""Players who move without a pause at many tables, and keep what was acknowledged."""

import asyncio
from collections.abc import Callable, Sequence

from kit.running_race import ANNA, move, running_race
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store.opening import Store

TABLES = [f"mint-otter-{number}" for number in range(10, 34)]
"""Enough for every primary of a cluster to have some."""


class Movers:
    """One player a table. A move that the house could not answer is sent again, as clients do."""

    def __init__(self, store: Store, tables: Sequence[str] = TABLES) -> None:
        self.store = store
        self.tables = tables
        self.acknowledged: dict[str, list[str]] = {code: [] for code in tables}
        self.unanswered = 0
        """Commits of which the house could not say what became of them."""
        self.longest = 0.0
        """Seconds that one player waited for a move, at most."""

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
        """Until every one of those players has made so many moves more."""
        goal = {code: len(self.acknowledged[code]) + number for code in tables or self.tables}

        def reached() -> bool:
            return all(len(self.acknowledged[code]) >= enough for code, enough in goal.items())

        while not reached():  # noqa: ASYNC110 - they count without telling anybody
            await asyncio.sleep(0.001)

    async def check(self, store: Store) -> None:
        """What was acknowledged is what is stored: no move lost, none twice, the numbers whole."""
        for code, log in self.acknowledged.items():
            board = await store.boards.load_board(code, 1, ANNA)
            assert board is not None, code
            assert [entry.text for entry in board.entries] == log, code
            assert [entry.number for entry in board.entries] == list(range(1, len(log) + 1)), code
