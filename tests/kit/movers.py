"""Players who move straight at the store without pause, and remember what was acknowledged."""

import asyncio
from collections.abc import Callable

from kit.running_race import ANNA, move, running_race
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store.opening import Store

TABLES = [f"mint-otter-{number}" for number in range(10, 18)]


class Movers:
    """Players, one at each table, who move without pause and record the acknowledged moves."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.acknowledged: dict[str, list[tuple[str, int, int]]] = {code: [] for code in TABLES}
        self.failures = 0

    async def play(self, code: str, enough: Callable[[], bool]) -> None:
        log = self.acknowledged[code]
        while not enough():
            text = f"t{len(log)}>up"
            try:
                outcome = await self.store.commits.commit(move(text, len(log), code=code))
            except StoreUnavailable:
                self.failures += 1  # nobody knows whether it is written: the same again
                await asyncio.sleep(0.01)
                continue
            assert outcome.status is CommitStatus.DONE, (code, outcome)
            log.append((text, outcome.at, outcome.number))

    def rounds(self, number: int) -> Callable[[], bool]:
        return lambda: all(len(log) >= number for log in self.acknowledged.values())

    async def play_until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.TaskGroup() as group:
            for code in TABLES:
                group.create_task(self.play(code, enough))

    async def check(self, store: Store) -> None:
        """Check that the store has the acknowledged moves, entry by entry."""
        for code, log in self.acknowledged.items():
            board = await store.boards.load_board(code, 1, ANNA)
            assert board is not None
            assert [(entry.text, entry.at, entry.number) for entry in board.entries] == log
            assert [number for _, _, number in log] == list(range(1, len(log) + 1))


async def started_players(store: Store) -> Movers:
    for code in TABLES:
        await running_race(store, code=code)
    return Movers(store)


async def reached(players: Movers, rounds: int) -> None:
    """Wait until every player has made this many moves."""
    while not players.rounds(rounds)():  # noqa: ASYNC110 - they count, and set no event
        await asyncio.sleep(0.001)
