"""A running race in a store, for tests that commit moves."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from kit.stepped_store import SteppedStore
from kit.tables import NODE, table_settings
from saratoga_protocol.events import Racer
from saratoga_server.domain.tables import TablePhase, TableSeat, TableState, unpack
from saratoga_server.ports import (
    BoardCommit,
    CommitOutcome,
    CommitStatus,
    LiveStanding,
    Millis,
    StoredBoard,
    StoreUnavailable,
)
from saratoga_server.store.opening import Store
from saratoga_server.store.tables import TableWrite

AnyStore: TypeAlias = Store | SteppedStore

CODE = "mint-otter-42"
ANNA, BERT = "annaannaannaanna", "bertbertbertbert"
MINUTE = 60_000


def move(
    text: str,
    after: int,
    *,
    player: str = ANNA,
    epoch: int = 1,
    banked: int = 0,
    rises: bool = False,
    code: str = CODE,
) -> BoardCommit:
    """Return the commit of one move."""
    return BoardCommit(
        table=code,
        race=1,
        player=player,
        epoch=epoch,
        after=after,
        entries=(text,),
        banked=banked,
        state="racing",
        rises=rises,
        head="",
    )


def ending(
    state: str, after: int, *entries: str, player: str = ANNA, banked: int = 0, late: bool = False
) -> BoardCommit:
    """Return the commit with which the server ends a board."""
    made = move("", after, player=player, epoch=0, banked=banked)
    return replace(made, entries=entries, state=state, late=late)


async def commit_all(store: AnyStore, commits: Iterable[BoardCommit]) -> list[CommitOutcome]:
    """Send all commits to the store concurrently; return the outcomes in the same order."""
    return await asyncio.gather(*map(store.commits.commit, commits))


@dataclass
class RunningRace:
    """A table whose first race is running, with Anna and Bert."""

    store: AnyStore
    start_at: Millis
    version: int = 1

    async def commit(self, *commits: BoardCommit) -> list[CommitOutcome]:
        return await commit_all(self.store, commits)

    async def board(self, player: str = ANNA) -> StoredBoard:
        board = await self.store.boards.load_board(CODE, 1, player)
        assert board is not None
        return board

    async def texts(self, player: str = ANNA) -> list[str]:
        return [entry.text for entry in (await self.board(player)).entries]

    async def resumed(self, player: str, epoch: int, code: str = CODE) -> None:
        """Give the player's seat to a connection of this epoch."""
        stored = await self.store.tables.load_table(code)
        assert stored is not None
        table = unpack(stored[1])
        seat = table.seat(player)
        assert seat is not None
        after = table.with_seat(replace(seat, epoch=epoch))
        write = TableWrite(version=stored[0], before=table, after=after)
        assert await self.store.tables.save_table(write) is None

    async def standing(self, player: str = ANNA) -> LiveStanding:
        return (await self.store.boards.load_standings(CODE, 1))[player]


async def running_race(
    store: AnyStore,
    *,
    started_ago: int = MINUTE,
    minutes: int = 10,
    banked: int = 0,
    code: str = CODE,
) -> RunningRace:
    """Store a race that started `started_ago` milliseconds ago and lasts `minutes`; 0: no deadline."""
    now = await store.tables.now()
    start_at = Millis(now - started_ago)
    racers = {player: Racer(player=player, name=player, nonce_hash="") for player in (ANNA, BERT)}
    counting = TableState(
        code=code,
        settings=table_settings(game="canfield"),
        created=now,
        touched=now,
        phase=TablePhase.COUNTDOWN,
        seats=tuple(TableSeat(player=each, name=each, epoch=1, node=NODE) for each in racers),
        racers=racers,
    )
    running = replace(
        counting,
        phase=TablePhase.RUNNING,
        start_at=start_at,
        deadline=Millis(start_at + minutes * MINUTE) if minutes else Millis(0),
    )
    write = TableWrite(version=0, before=counting, after=running, opening_banked=banked)
    assert await store.tables.save_table(write) is None
    return RunningRace(store, start_at)


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
