"""Everything that was raced in a town, held against what everybody was told.

Races are looked through while the evening goes on, one behind the latest, and their notes dropped;
at the end come the races in play, and the leaderboards, which must be the fold of all records.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from kit.race_audit import (
    disagreements,
    faults_of_count,
    faults_of_log,
    faults_of_open_board,
)
from kit.rankings import SETTLED_WITHIN, counted, rankings_kept, settled
from kit.recorded_players import Notes
from kit.storms.town import Guest, Town
from kit.storms.unheard import unexplained, unheard
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_server.domain.periods import periods
from saratoga_server.ports import BoardKey, Millis, RankedRow, StoredBoard
from saratoga_server.store.opening import Store

EVERYBODY = 1_000
"""Rows of a leaderboard."""

UNHEARD = "never had an answer to "
"""No fault by itself: an answer may get lost on its way for good (`unheard.py` says when)."""


@dataclass
class _Account:
    """One player's results on one leaderboard."""

    races: int = 0
    net: int = 0
    best: tuple[int, int] = (-1, 0)
    """Banked, and milliseconds less than none."""


@dataclass
class Auditor:
    """Of one town."""

    town: Town
    store: Store
    settled_within: float = SETTLED_WITHIN
    """Seconds for the nodes to bring the last results to the leaderboards."""
    faults: list[str] = field(default_factory=list)
    races: Counter[str] = field(default_factory=Counter)
    """Finished, and held against everything, by table."""
    ranked: int = 0
    """Results of finished races that were looked for on the leaderboards."""
    rows: int = 0
    """Of leaderboards, compared with the records."""
    moves: int = 0
    """Acknowledged, repeats not counted."""
    repeats: int = 0
    """Acknowledged once more."""
    unheard: int = 0
    """Boards with a move in the store whose answer the player never had."""
    _next: Counter[str] = field(default_factory=Counter)
    """By table: how many of its races were looked through."""
    _accounts: dict[BoardKey, dict[str, _Account]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(_Account))
    )

    async def look(self) -> None:
        """Look through every race that is well over."""
        for table in self.town.tables:
            code = table[0].notes.code
            known = {_number(race) for guest in table for race in guest.notes.outcomes}
            while self._next[code] + 1 < max(known, default=0):
                await self._look_for(table, code, self._next[code] + 1)

    async def close(self) -> None:
        """Look through the rest, when nobody plays any more."""
        if not await settled(self.store, self.settled_within):
            self.faults.append("the nodes have left results in the outboxes")
        await self.look_at_last_races()
        await self._look_at_rankings()

    async def _look_at_rankings(self) -> None:
        """Those that are there, and those that should be."""
        kept = await rankings_kept(self.store)
        for key in sorted(kept.union(self._accounts), key=str):
            total, rows = await self.store.leaderboards.page(key, 0, EVERYBODY)
            assert total <= EVERYBODY
            self.rows += len(rows)
            accounts = self._accounts.get(key, {})
            self.faults += _faults_of_leaderboard(key, rows, accounts)

    async def look_at_last_races(self) -> None:
        """Every race that anybody knows of, to the one in play; every acknowledgement is judged."""
        for table in self.town.tables:
            code = table[0].notes.code
            while self._next[code] + 1 < _newest(table):
                await self._look_for(table, code, self._next[code] + 1)
            while text := await self.store.tables.load_record(code, self._next[code] + 1):
                await self._look_through(table, text)
            in_play = f"{code}/{self._next[code] + 1}"
            if any(in_play in guest.notes.announced for guest in table):
                self.faults.append(f"{in_play} has no record")
            await self._look_at_boards(table, code, self._next[code] + 1)
            for guest in table:
                await self._judge_the_rest(guest.notes, in_play)

    async def _look_for(self, table: list[Guest], code: str, race: int) -> None:
        """Of a race after which another was dealt: it must have its record."""
        text = await self.store.tables.load_record(code, race)
        if text is None:
            self._next[code] = race
            self.faults.append(f"{code}/{race} has no record")
            return
        await self._look_through(table, text)

    async def _judge_the_rest(self, notes: Notes, in_play: str) -> None:
        """What was acknowledged but in races that were looked through: late answers, lost races."""
        for race in sorted({each.race for each in notes.acknowledged} - {in_play}):
            code, _, number = race.rpartition("/")
            text = await self.store.tables.load_record(code, int(number))
            if text is None:
                done = len(notes.of_race(race))
                self.faults.append(
                    f"{race}: {notes.player} had {done} moves acknowledged that stand nowhere"
                )
                continue
            said = await asyncio.to_thread(disagreements, text, [notes])
            self.faults += [f"{race}: {fault}" for fault in said if UNHEARD not in fault]

    async def _look_through(self, table: list[Guest], text: str) -> None:
        record = parse_record(text)
        self.races[record.table] += 1
        self._next[record.table] += 1
        self._enter(record)
        everybody = [guest.notes for guest in table]
        said = await asyncio.to_thread(disagreements, text, everybody)
        found = [fault for fault in said if UNHEARD not in fault]
        for guest in table:
            found += guest.player.objections(record.race_id)
        boards = []
        for racer in record.racers:
            board = await self.store.boards.load_board(record.table, record.race, racer.player)
            if board is None:
                found.append(f"the board of {racer.player} is gone")
                continue
            boards.append(board)
            notes = next(each for each in everybody if each.player == racer.player)
            found += faults_of_log(board, racer, notes)
            self.unheard += bool(unheard(record, notes))
            found += [f"{racer.player}: {fault}" for fault in unexplained(record, notes)]
        found += faults_of_count(boards)
        self.faults += [f"{record.race_id}: {fault}" for fault in found]
        self._count(table, record.race_id)
        for guest in table:
            guest.player.forget(record.race_id)

    async def _look_at_boards(self, table: list[Guest], code: str, race: int) -> None:
        """Of the race in play, if there is one."""
        boards: list[StoredBoard] = []
        race_id = f"{code}/{race}"
        for guest in table:
            board = await self.store.boards.load_board(code, race, guest.notes.player)
            done = guest.notes.of_race(race_id)
            self.faults += [
                f"{race_id}: {guest.notes.player}: {fault}"
                for fault in guest.notes.taken_back.get(race_id, ())
            ]
            if board is not None:
                boards.append(board)
                self.faults += [f"{race_id}: {f}" for f in faults_of_open_board(board, done)]
            elif done:
                self.faults.append(f"{race_id}: moves were acknowledged, and there is no board")
        self.faults += [f"{race_id}: {fault}" for fault in faults_of_count(boards)]
        self._count(table, race_id)

    def _count(self, table: list[Guest], race: str) -> None:
        for guest in table:
            repeats = [each.repeat for each in guest.notes.of_race(race)]
            self.repeats += sum(repeats)
            self.moves += len(repeats) - sum(repeats)

    def _enter(self, record: RaceRecord) -> None:
        """Count the race as the leaderboards should."""
        results = counted(record)
        self.ranked += len(results)
        for period in periods(Millis(record.start_at)):
            for ranking in ("best", "bankroll"):
                for row in results:
                    bots = record.racer(row.player).bot
                    key = BoardKey(game=record.game, ranking=ranking, period=period.name, bots=bots)
                    account = self._accounts[key][row.player]
                    account.races += 1
                    account.net += row.net
                    account.best = max(account.best, (row.banked, -(row.reached or 0)))


def _number(race: str) -> int:
    return int(race.rpartition("/")[2])


def _newest(table: list[Guest]) -> int:
    """The number of the latest race that anybody at the table knows to have been dealt."""
    return max((_number(race) for guest in table for race in guest.notes.raced()), default=0)


def _faults_of_leaderboard(
    key: BoardKey, rows: list[RankedRow], accounts: dict[str, _Account]
) -> Iterator[str]:
    name = f"the {key.ranking} of {key.period} at {key.game}"
    if {row.player for row in rows} != set(accounts):
        yield f"{name} has other players than the records"
        return
    if [row.value for row in rows] != sorted((row.value for row in rows), reverse=True):
        yield f"{name} is out of order"
    for row in rows:
        account = accounts[row.player]
        told = (row.races, row.value)
        kept = (account.races, account.net)
        if key.ranking == "best":
            told, kept = (row.value, -(row.elapsed or 0)), account.best
        if told != kept:
            yield f"{name} has {told} for {row.player}, the records {kept}"
