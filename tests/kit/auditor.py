"""Compare all races of some tables with what their players received.

The races in play are audited too, and the leaderboards, which must be the sum of all records:
`fold_rankings` is a second implementation of them.
"""

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from msgspec.structs import replace

from kit.racing_bots import Acknowledged, Notes, RacingBots, RecordedPlayer
from kit.tables import result_of
from saratoga_client.net.connection import Connection
from saratoga_protocol.commands import CashOut, GetRecord, MakeMove
from saratoga_protocol.events import LeaderboardRow, Record
from saratoga_rules.records.facts import compare
from saratoga_rules.records.record import RaceRecord, RacerLog, digest_of, parse_record
from saratoga_rules.records.standing import LOG_ENDINGS, Placed
from saratoga_rules.records.verify import verify
from saratoga_server.ports import Damage, Millis, Settlement, StoredBoard
from saratoga_server.store.leaderboards import BoardKey, periods
from saratoga_server.store.opening import Store, open_store


def disagreements(text: str, all_notes: Sequence[Notes]) -> list[str]:
    """Describe where a race's record and what its players were told differ, and lost answers."""
    record = parse_record(text)
    found = [f"verify: {fault.name}: {fault.detail}" for fault in verify(text.encode()).faults]
    for notes in all_notes:
        told = [each for each in notes.clashes if each.key[1] == record.race_id]
        told += compare(notes.facts, record, digest_of(text), notes.player)
        found += [
            f"{notes.player}: {' '.join(key)}: {was}, then {now}" for _, key, was, now in told
        ]
        if unknown := unanswered_moves(record, notes):
            found.append(f"{notes.player}: {NEVER_ANSWERED}{unknown}")
    return found


async def check_race(connection: Connection, race: str, all_notes: Sequence[Notes]) -> None:
    """Ask for the record of a race; fail if it differs from what the server told the players."""
    record = await connection.ask(partial(GetRecord, race=race), Record)
    assert await asyncio.to_thread(disagreements, record.text, all_notes) == []


def _is_the_servers(text: str) -> bool:
    return text in LOG_ENDINGS and text != "cash-out"


def faults_of_log(stored: StoredBoard, racer: RacerLog, notes: Notes) -> Iterator[str]:
    """Check that every entry of a stored log is one command of the player, carried out once."""
    if [entry.text for entry in stored.entries] != [line.text for line in racer.log]:
        yield "the stored log and the record differ"
    for place, entry in enumerate(stored.entries):
        yield from _faults_of_entry(place, entry.text, notes)


def faults_of_open_board(stored: StoredBoard, done: Sequence[Acknowledged]) -> Iterator[str]:
    """Check that every acknowledged move of a race in play is stored at its position."""
    for each in done:
        place = len(stored.entries) - 1 if each.after is None else each.after
        if place >= len(stored.entries) or stored.entries[place].text != each.text:
            yield f"{each.text} was acknowledged at {place} and is not stored"


def faults_of_count(boards: Sequence[StoredBoard]) -> Iterator[str]:
    """Check that the entries of a race's boards are numbered 1, 2, 3 ... in order of time."""
    entries = sorted((entry.number, entry.at) for board in boards for entry in board.entries)
    if [number for number, _ in entries] != list(range(1, len(entries) + 1)):
        yield "the entries of the race are not numbered one after the other"
    if [at for _, at in entries] != sorted(at for _, at in entries):
        yield "the entries of the race are not in the order of time"


def _faults_of_entry(place: int, text: str, notes: Notes) -> Iterator[str]:
    if _is_the_servers(text):
        return
    for command in notes.sent.values():
        match command:
            case MakeMove(after=after, move=move) if (after, move) == (place, text):
                return
            case CashOut() if text == "cash-out":
                return
    yield f"entry {place}, {text}, is no command that the player sent"


RANKING = re.compile(r"^leaderboard:([^:]+):(best|bankroll):([^:]+):(bots|people)$")


async def stored_leaderboards(store: Store) -> set[BoardKey]:
    """Return the keys of all leaderboards that the store holds."""
    found = set()
    async for key in store.client.scan("leaderboard:*", "zset"):
        parts = RANKING.match(key)
        assert parts, f"{key} is no leaderboard"
        game, ranking, period, kind = parts.groups()
        found.add(BoardKey(game=game, ranking=ranking, period=period, bots=kind == "bots"))
    return found


def counted(record: RaceRecord) -> list[Placed]:
    """Return the results of a race that leaderboards count, by *Ranked* in `protocol/README.md`.

    A race without a time limit counts for no player. People's results count if at
    least two of the racers are people, bots' results if there are at least two racers.
    """
    if not record.cap:
        return []
    is_bot = {racer.player: racer.bot for racer in record.racers}
    takes_people = sum(not bot for bot in is_bot.values()) >= 2
    takes_bots = len(is_bot) >= 2
    return [row for row in record.results if (takes_bots if is_bot[row.player] else takes_people)]


def unanswered_moves(record: RaceRecord, notes: Notes) -> list[int]:
    """Return the positions in the player's log of commands that were never acknowledged."""
    log = next((racer.log for racer in record.racers if racer.player == notes.player), ())
    last = len(log) - 1
    done = notes.of_race(record.race_id)
    answered = {last if each.after is None else each.after for each in done}
    return [
        place
        for place, line in enumerate(log)
        if place not in answered and not _is_the_servers(line.text)
    ]


MOST_ROWS = 1_000
"""Maximum number of leaderboard rows to read; a storm makes fewer."""

NEVER_ANSWERED = "never had an answer to "
"""The start of a finding that is not always an error: an injected fault may lose an answer."""


@dataclass
class Auditor:
    """An audit of some tables: the faults found, and counts of what was checked."""

    tables: Sequence[Sequence[RecordedPlayer]]
    store: Store
    faults: list[str] = field(default_factory=list)
    races: Counter[str] = field(default_factory=Counter)
    """The number of finished races audited, by table."""
    ranked: int = 0
    """The number of results that leaderboards count, in finished races."""
    rows: int = 0
    """The number of leaderboard rows compared with the records."""
    moves: int = 0
    """The number of acknowledged moves, without repeats."""
    unanswered: int = 0
    """The number of boards with a stored move whose acknowledgement never reached the player."""
    _settled: list[tuple[int, Settlement]] = field(default_factory=list)
    """The results that leaderboards count, each race's with the number of those before it."""

    async def audit_all(self) -> None:
        """Audit every race that a player knows, and the leaderboards, when all have stopped."""
        for table in self.tables:
            await self._audit_table(table)
        expected_keys = {
            BoardKey(game=race.game, ranking=ranking, period=period.name, bots=bots)
            for _, race in self._settled
            for period in periods(race.ended)
            for ranking in ("best", "bankroll")
            for bots in {row.player not in race.people for row in race.results}
        }
        for key in expected_keys.union(await stored_leaderboards(self.store)):
            total, rows = await self.store.leaderboards.page(key, 0, MOST_ROWS)
            assert total <= MOST_ROWS
            self.rows += len(rows)
            shown = [replace(row, name="", rivals=0, race="") for row in rows]
            expected = [replace(row, race="") for row in fold_rankings(key, self._settled, {})]
            if shown != expected:
                self.faults.append(f"{key}: {shown}, and {expected} by the records")

    async def _audit_table(self, table: Sequence[RecordedPlayer]) -> None:
        """Audit the record of each race of a table, and then the boards of the race in play."""
        code = table[0].notes.code
        known = {race for player in table for race in player.notes.raced()}
        known |= {each.race for player in table for each in player.notes.acknowledged}
        over = {race for player in table for race in player.notes.announced}
        newest = max((int(race.rpartition("/")[2]) for race in known), default=0)
        for number in itertools.count(1):
            if text := await self.store.tables.load_record(code, number):
                await self._audit_record(table, text)
            elif number < newest or f"{code}/{number}" in over:
                self.faults.append(f"{code}/{number} has no record")
            else:
                await self._audit_boards(table, code, number)
                return

    async def _audit_record(self, table: Sequence[RecordedPlayer], text: str) -> None:
        record = parse_record(text)
        if record.voided:
            self._audit_void(table, text, record)
            return
        self.races[record.table] += 1
        self._count_results(record)
        all_notes = [player.notes for player in table]
        found = await asyncio.to_thread(disagreements, text, all_notes)
        found = [fault for fault in found if NEVER_ANSWERED not in fault]
        for player in table:
            found += player.objections(record.race_id)
        boards = []
        for racer in record.racers:
            board = await self._board(record.table, record.race, racer.player)
            if board is None:
                found.append(f"the board of {racer.player} is missing")
                continue
            boards.append(board)
            notes = next(each for each in all_notes if each.player == racer.player)
            found += faults_of_log(board, racer, notes)
            self.unanswered += bool(unanswered_moves(record, notes))
        found += faults_of_count(boards)
        self.faults += [f"{record.race_id}: {fault}" for fault in found]
        self._count_moves(table, record.race_id)

    def _audit_void(self, table: Sequence[RecordedPlayer], text: str, void: RaceRecord) -> None:
        """Audit a voided countdown, the only thing that faults may void."""
        found = disagreements(text, [player.notes for player in table])
        if void.deal is not None:
            found.append(f"it was voided: {void.voided}")
        for player in table:
            found += player.objections(void.race_id)
            if player.notes.of_race(void.race_id):
                found.append(f"{player.notes.player} has acknowledged moves in a voided countdown")
        self.faults += [f"{void.race_id}: {fault}" for fault in found]

    async def _audit_boards(self, table: Sequence[RecordedPlayer], code: str, race: int) -> None:
        """Audit the boards of the race in play, if there is one."""
        boards: list[StoredBoard] = []
        race_id = f"{code}/{race}"
        for player in table:
            board = await self._board(code, race, player.notes.player)
            done = player.notes.of_race(race_id)
            self.faults += [str(each) for each in player.notes.clashes if each.key[1] == race_id]
            if board is not None:
                boards.append(board)
                self.faults += [f"{race_id}: {f}" for f in faults_of_open_board(board, done)]
            elif done:
                self.faults.append(
                    f"{race_id}: {player.notes.player} has acknowledged moves and no board"
                )
        self.faults += [f"{race_id}: {fault}" for fault in faults_of_count(boards)]
        self._count_moves(table, race_id)

    async def _board(self, code: str, race: int, player: str) -> StoredBoard | None:
        """Load a board; report its damage if it has any, and return an empty one then."""
        try:
            return await self.store.boards.load_board(code, race, player)
        except Damage as damage:
            self.faults.append(f"{code}/{race}: the board of {player} is damaged: {damage}")
            return StoredBoard(epoch=0, banked=0, state="racing", entries=())

    def _count_moves(self, table: Sequence[RecordedPlayer], race: str) -> None:
        for player in table:
            self.moves += sum(not each.repeat for each in player.notes.of_race(race))

    def _count_results(self, record: RaceRecord) -> None:
        """Add the race's results to those that the leaderboards must show."""
        results = tuple(
            result_of(row.player, banked=row.banked, net=row.net, reached=row.reached)
            for row in counted(record)
        )
        ended = max(racer.log[-1].at for racer in record.racers if racer.log)
        race = Settlement(
            race=record.race_id,
            game=record.game,
            ended=Millis(record.start_at + ended),
            results=results,
            people=tuple(racer.player for racer in record.racers if not racer.bot),
        )
        self._settled.append((self.ranked, race))
        self.ranked += len(results)


async def audit(bots: RacingBots) -> tuple[int, int]:
    """Stop and audit all races; return the numbers of races and of acknowledged moves."""
    await bots.stop_racing()
    assert bots.failures == []
    async with open_store(bots.store_url, bots.durability) as store:
        auditor = Auditor(bots.tables, store)
        await auditor.audit_all()
    assert auditor.faults == []
    assert auditor.unanswered == 0, "a player never had an answer to a stored move"
    return auditor.races.total(), auditor.moves


# The leaderboards, a second time

SLOWEST: Final = 2**21 - 1
"""Milliseconds from which leaderboards count times as equal: more than any time limit."""


def fold_rankings(
    key: BoardKey,
    settled: Sequence[tuple[int, Settlement]],
    forgotten: Mapping[str, int],
) -> list[LeaderboardRow]:
    """Compute a leaderboard from pairs: a settlement, and the number of results before it."""
    found: dict[str, list[tuple[int, int, int, int, str]]] = {}
    for begun, race in settled:
        if race.game != key.game:
            continue
        if key.period not in {period.name for period in periods(race.ended)}:
            continue
        for place, row in enumerate(race.results):
            if (row.player not in race.people) == key.bots and begun >= forgotten.get(
                row.player, 0
            ):
                found.setdefault(row.player, []).append(
                    (begun + place, row.banked, row.net, row.reached or 0, race.race)
                )
    ranked = [
        _best(player, results) if key.ranking == "best" else _bankroll(player, results)
        for player, results in found.items()
    ]
    ordered = sorted(ranked, key=lambda each: (each[0], each[1].player), reverse=True)
    scores = [score for score, _ in ordered]
    return [replace(row, rank=scores.index(score) + 1) for score, row in ordered]


def _best(
    player: str, results: Sequence[tuple[int, int, int, int, str]]
) -> tuple[tuple[int, int], LeaderboardRow]:
    """Return the score and the row of the best result, the earliest of equal ones."""
    _, banked, net, elapsed, race = min(
        results, key=lambda result: (-result[1], min(result[3], SLOWEST), result[0])
    )
    return (banked, -min(elapsed, SLOWEST)), LeaderboardRow(
        rank=0,
        player=player,
        name="",
        value=banked,
        net=net,
        elapsed=elapsed,
        race=race,
        races=len(results),
        rivals=0,
    )


def _bankroll(
    player: str, results: Sequence[tuple[int, int, int, int, str]]
) -> tuple[tuple[int, int], LeaderboardRow]:
    total = sum(net for _, _, net, _, _ in results)
    return (total, 0), LeaderboardRow(
        rank=0,
        player=player,
        name="",
        value=total,
        net=total,
        elapsed=None,
        race="",
        races=len(results),
        rivals=0,
    )
