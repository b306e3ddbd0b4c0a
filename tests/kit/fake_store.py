"""A store in memory with a clock of its own: the ports without a process, for fast tests.

It passes the same contract tests as the real one. Every call lets other tasks run, as a real one
does, and nothing happens between a check and the write that stands on it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from msgspec.structs import replace

from kit.fake_leaderboards import FakeLeaderboards
from kit.fake_news import FakeNews, tell_all
from saratoga_rules.records.standing import Reached, State
from saratoga_server.messages.node_events import NodeEventListener, Touched
from saratoga_server.ports import (
    MOST_LISTED,
    BoardCommit,
    CommitOutcome,
    CommitStatus,
    LiveStanding,
    LogEntry,
    Millis,
    PlayerRow,
    RaceOpening,
    Reservation,
    Settlement,
    StoredBoard,
    StoreUnavailable,
    TableWrite,
)

EARLY = 100
"""Milliseconds by which a node may be wrong about the time."""


def wall_clock() -> Millis:
    return Millis(time.time_ns() // 1_000_000)


@dataclass
class _Board:
    epoch: int
    banked: int
    last_id: int = 0
    state: str = "racing"
    log: list[LogEntry] = field(default_factory=list)
    rose: dict[int, tuple[Millis, int]] = field(default_factory=dict)


@dataclass
class _Race:
    start_at: Millis
    deadline: Millis
    boards: dict[str, _Board]
    at: Millis
    commits: int = 0
    over: bool = False


@dataclass
class FakeHouse:
    """Everything that is stored, and the switches of the faults."""

    clock: Callable[[], Millis] = wall_clock
    unavailable: bool = False
    """While set, every call raises `StoreUnavailable` and does nothing."""
    lose_answers: int = 0
    """So many writes to come are done, yet raise `StoreUnavailable`."""
    tables: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    due: dict[str, Millis] = field(default_factory=dict)
    races: dict[tuple[str, int], _Race] = field(default_factory=dict)
    records: dict[tuple[str, int], str] = field(default_factory=dict)
    outbox: list[bytes] = field(default_factory=list)
    unread: list[bytes] = field(default_factory=list)
    public: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    players: dict[str, PlayerRow] = field(default_factory=dict)
    skeletons: dict[str, str] = field(default_factory=dict)
    codes: dict[tuple[str, int], str] = field(default_factory=dict)
    settled: dict[tuple[str, str], list[tuple[int, Settlement]]] = field(default_factory=dict)
    voided: set[tuple[str, str]] = field(default_factory=set)
    forgotten: dict[str, int] = field(default_factory=dict)
    acts: list[dict[str, str]] = field(default_factory=list)
    listed: "count[int]" = field(default_factory=count)
    nodes: set[str] = field(default_factory=set)
    ears: list[NodeEventListener] = field(default_factory=list)
    """Of the nodes that listen; a test may take one out, and it hears nothing."""

    async def reading(self) -> None:
        await asyncio.sleep(0)
        if self.unavailable:
            raise StoreUnavailable("the store does not answer")

    async def written(self) -> None:
        if self.lose_answers > 0:
            self.lose_answers -= 1
            raise StoreUnavailable("the store does not answer")
        await asyncio.sleep(0)


class FakeBoards:
    """`BoardStore` and `Commits` in memory."""

    def __init__(self, house: FakeHouse) -> None:
        self.house = house

    async def commit(self, board: BoardCommit) -> CommitOutcome:
        await self.house.reading()
        outcome = self._commit(board)
        await self.house.written()
        return outcome

    def _commit(self, commit: BoardCommit) -> CommitOutcome:
        now = self.house.clock()
        race = self.house.races.get((commit.table, commit.race))
        board = race.boards.get(commit.player) if race else None
        if race is None or board is None:
            return CommitOutcome(CommitStatus.NO_BOARD)
        status = _fault(commit, race, board, now)
        if status is not None:
            return CommitOutcome(status, len(board.log))
        race.at, first = max(race.at, now), race.commits + 1
        for text in commit.entries:
            race.commits += 1
            board.log.append(LogEntry(text, race.at, race.commits, commit.command_id))
        if commit.rises:
            ended = commit.state not in ("racing", "won") and len(commit.entries) > 1
            board.rose[commit.banked] = (race.at, race.commits - int(ended))
        board.last_id = max(board.last_id, commit.command_id)
        board.banked, board.state = commit.banked, commit.state
        if all(each.state != "racing" for each in race.boards.values()):
            self.house.due[commit.table] = min(now, self.house.due.get(commit.table, now))
        return CommitOutcome(CommitStatus.DONE, len(board.log), race.at, first)

    async def load_board(self, table: str, race: int, player: str) -> StoredBoard | None:
        await self.house.reading()
        stored = self.house.races.get((table, race))
        board = stored.boards.get(player) if stored else None
        if board is None:
            return None
        return StoredBoard(
            epoch=board.epoch,
            last_id=board.last_id,
            banked=board.banked,
            state=board.state,
            entries=tuple(board.log),
        )

    async def load_standings(self, table: str, race: int) -> dict[str, LiveStanding]:
        await self.house.reading()
        stored = self.house.races.get((table, race))
        if stored is None:
            return {}
        return {
            player: _standing(board, stored.start_at) for player, board in stored.boards.items()
        }


def _fault(commit: BoardCommit, race: _Race, board: _Board, now: Millis) -> CommitStatus | None:
    there = board.log[commit.after : commit.after + len(commit.entries)]
    same = [(entry.text, entry.command_id) for entry in there] == [
        (text, 0) for text in commit.entries
    ]
    if commit.epoch and commit.epoch < board.epoch:
        return CommitStatus.FENCED
    if (commit.command_id and commit.command_id <= board.last_id) or (
        not commit.command_id and same
    ):
        return CommitStatus.REPEAT
    if race.over or board.state != "racing":
        return CommitStatus.BOARD_OVER
    if race.deadline and now >= race.deadline and not commit.late:
        return CommitStatus.TIME_UP
    if race.deadline and now < race.deadline - EARLY and commit.late:
        return CommitStatus.STALE
    return CommitStatus.STALE if len(board.log) != commit.after else None


def _standing(board: _Board, start_at: Millis) -> LiveStanding:
    rose = board.rose.get(board.banked)
    reached = None if rose is None else Reached(rose[0] - start_at, rose[1])
    return LiveStanding(len(board.log), board.banked, State(board.state), reached)


class FakeTables:
    """`TableStore` in memory."""

    def __init__(self, house: FakeHouse) -> None:
        self.house = house

    async def now(self) -> Millis:
        await self.house.reading()
        return self.house.clock()

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        await self.house.reading()
        return self.house.tables.get(code)

    async def load_versions(self, codes: Sequence[str]) -> list[int]:
        await self.house.reading()
        return [self.house.tables.get(code, (0, b""))[0] for code in codes]

    async def save_table(self, write: TableWrite) -> bool:
        await self.house.reading()
        house = self.house
        version, _ = house.tables.get(write.code, (0, b""))
        if version != write.expected:
            return False
        house.tables[write.code] = (version + 1, write.body)
        tell_all(house.ears, Touched(write.code, version + 1))
        if write.due is None:
            house.due.pop(write.code, None)
        else:
            house.due[write.code] = write.due
        running = house.races.get((write.code, write.race))
        for player, epoch in write.epochs.items():
            if running and player in running.boards:
                board = running.boards[player]
                board.epoch = max(board.epoch, epoch)
        if write.opening is not None:
            house.races[write.code, write.opening.race] = _opened(write.opening)
        if write.finish is not None:
            self._finish(write)
        await house.written()
        return True

    def _finish(self, write: TableWrite) -> None:
        assert write.finish is not None
        at = (write.code, write.finish.race)
        self.house.records[at] = write.finish.record
        if write.finish.settlement is not None:
            self.house.outbox.append(write.finish.settlement)
        if at in self.house.races:
            self.house.races[at].over = True

    async def load_record(self, table: str, race: int) -> str | None:
        await self.house.reading()
        return self.house.records.get((table, race))

    async def due(self, until: Millis, limit: int) -> list[str]:
        await self.house.reading()
        overdue = sorted((at, code) for code, at in self.house.due.items() if at <= until)
        return [code for _, code in overdue[:limit]]

    async def list_public(self) -> list[bytes]:
        await self.house.reading()
        newest = sorted(self.house.public.values(), reverse=True)[:MOST_LISTED]
        return [summary for _, summary in newest]

    async def set_public(self, code: str, summary: bytes | None) -> None:
        await self.house.reading()
        if summary is None:
            self.house.public.pop(code, None)
        else:
            place, _ = self.house.public.get(code) or (next(self.house.listed), b"")
            self.house.public[code] = (place, summary)
        await self.house.written()

    async def all_codes(self) -> AsyncIterator[str]:
        await self.house.reading()
        for code in list(self.house.tables):
            yield code


def _opened(opening: RaceOpening) -> _Race:
    return _Race(
        start_at=opening.start_at,
        deadline=opening.deadline,
        boards={
            player: _Board(epoch=epoch, banked=opening.banked)
            for player, epoch in sorted(opening.epochs.items())
        },
        at=opening.start_at,
    )


class FakePlayers:
    """`PlayerStore` in memory."""

    def __init__(self, house: FakeHouse) -> None:
        self.house = house

    async def load_player(self, player: str) -> PlayerRow | None:
        await self.house.reading()
        return self.house.players.get(player)

    async def meet_player(self, player: str) -> PlayerRow | None:
        await self.house.reading()
        row = self.house.players.get(player)
        if row is not None:
            self._change(player, hello=max(row.hello + 1, self.house.clock()))
        return self.house.players.get(player)

    async def load_names(self, players: Sequence[str]) -> dict[str, str]:
        await self.house.reading()
        rows = (self.house.players.get(player) for player in players)
        return {row.player: row.name for row in rows if row and row.name is not None}

    async def create_player(self, row: PlayerRow) -> PlayerRow:
        await self.house.reading()
        stored = self.house.players.setdefault(row.player, replace(row, name=None))
        await self.house.written()
        return stored

    async def claim_name(self, player: str, name: str, skeleton: str) -> bool:
        await self.house.reading()
        if self.house.skeletons.get(skeleton, player) != player or player not in self.house.players:
            return False
        self._free_names(player)
        self.house.skeletons[skeleton] = player
        self._change(player, name=name)
        await self.house.written()
        return True

    async def find_player(self, skeleton: str) -> str | None:
        await self.house.reading()
        return self.house.skeletons.get(skeleton)

    async def sit(self, player: str, table: str, instead_of: str | None = None) -> str | None:
        await self.house.reading()
        elsewhere = self._sit(player, table, instead_of)
        if elsewhere is None:
            await self.house.written()
        return elsewhere

    async def stand_up(self, player: str, table: str) -> None:
        await self.house.reading()
        row = self.house.players.get(player)
        if row is not None and row.table == table:
            self._change(player, table=None)
        await self.house.written()

    async def raise_last_id(self, player: str, command_id: int) -> None:
        await self.house.reading()
        row = self.house.players.get(player)
        if row is not None:
            self._change(player, last_id=max(row.last_id, command_id))
        await self.house.written()

    async def set_banned(self, player: str, banned: bool) -> None:
        await self.house.reading()
        self._change(player, banned=banned)
        await self.house.written()

    async def reserve_table(
        self, player: str, command_id: int, code: str, instead_of: str | None = None
    ) -> Reservation:
        await self.house.reading()
        codes = self.house.codes
        reserved = codes.get((player, command_id))
        if reserved is None or reserved == instead_of:
            reserved = codes[player, command_id] = code
        for at in sorted(at for at in codes if at[0] == player)[:-2]:
            del codes[at]
        row = self.house.players.get(player)
        elsewhere = None
        if row is not None:
            self._change(player, last_id=max(row.last_id, command_id))
            elsewhere = self._sit(player, reserved, instead_of)
        await self.house.written()
        name = None if row is None else row.name
        return Reservation(code=reserved, name=name, elsewhere=elsewhere)

    async def forget_player(self, player: str) -> None:
        await self.house.reading()
        self._free_names(player)
        self.house.players.pop(player, None)
        for at in [at for at in self.house.codes if at[0] == player]:
            del self.house.codes[at]
        await self.house.written()

    def _sit(self, player: str, table: str, instead_of: str | None) -> str | None:
        row = self.house.players.get(player)
        if row is not None and row.table not in (None, table, instead_of):
            return row.table
        self._change(player, table=table)
        return None

    def _free_names(self, player: str) -> None:
        for skeleton in [each for each, holder in self.house.skeletons.items() if holder == player]:
            del self.house.skeletons[skeleton]

    def _change(self, player: str, **changes: object) -> None:
        row = self.house.players.get(player)
        if row is not None:
            self.house.players[player] = replace(row, **changes)


class FakeAudit:
    """`AuditLog` in memory."""

    def __init__(self, house: FakeHouse) -> None:
        self.house = house

    async def append(self, act: Mapping[str, str]) -> None:
        await self.house.reading()
        self.house.acts.append(dict(act))
        await self.house.written()

    async def read(self, limit: int) -> list[dict[str, str]]:
        await self.house.reading()
        return self.house.acts[::-1][:limit] if limit > 0 else []


class FakeNodes:
    """`NodeStore` in memory."""

    def __init__(self, house: FakeHouse) -> None:
        self.house = house

    async def beat(self, node: str) -> None:
        await self.house.reading()
        self.house.nodes.add(node)

    async def gone(self, node: str) -> None:
        await self.house.reading()
        self.house.nodes.discard(node)

    async def dead(self, nodes: Iterable[str]) -> frozenset[str]:
        await self.house.reading()
        return frozenset(nodes) - self.house.nodes


@dataclass(frozen=True)
class FakeStore:
    """All ports over one memory; shaped like `saratoga_server.store.opening.Store`."""

    house: FakeHouse
    commits: FakeBoards
    boards: FakeBoards
    tables: FakeTables
    players: FakePlayers
    leaderboards: FakeLeaderboards
    audit: FakeAudit
    nodes: FakeNodes
    events: FakeNews


def fake_store(house: FakeHouse | None = None) -> FakeStore:
    """A store in memory; two of them over one `FakeHouse` are two nodes of a house."""
    house = house or FakeHouse()
    boards = FakeBoards(house)
    return FakeStore(
        house=house,
        commits=boards,
        boards=boards,
        tables=FakeTables(house),
        players=FakePlayers(house),
        leaderboards=FakeLeaderboards(house),
        audit=FakeAudit(house),
        nodes=FakeNodes(house),
        events=FakeNews(house.ears, house.reading),
    )


@asynccontextmanager
async def open_fake_store() -> AsyncIterator[FakeStore]:
    yield fake_store()
