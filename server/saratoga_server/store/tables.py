"""Tables: one write for everything that changes with a table.

The write of a table has its timer, the rows of players who sit down or stand up, its line in the
public list, the boards of a race that starts, and the record and results of a race that ends.
"""

from collections.abc import AsyncIterator, Sequence
from enum import Enum, auto
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saratoga_protocol.events import TableSummary
from saratoga_server.domain.tables import TablePhase, TableState, due, pack
from saratoga_server.ports import MOST_LISTED, Millis, RaceFinish, Run
from saratoga_server.store.client import StoreClient
from saratoga_server.store.keys import (
    DUE,
    FINISHED_LOGS_KEPT,
    GUEST_KEPT,
    NEWS,
    PUBLIC,
    SUMMARIES,
    TABLE_KEPT,
    log_key,
    open_key,
    player_key,
    race_key,
    records_key,
    run_logs_key,
    runs_key,
    streaks_key,
    table_key,
)
from saratoga_server.store.leaderboards import add_results
from saratoga_server.store.save import MISSING, Save
from saratoga_server.store.save import pack as pack_for_lua

PEOPLE: Final = 10**13
"""A table's score in the public list: its connected people times this, plus its opening time."""


LOOK_MILLIS: Final = 15_000
"""Milliseconds after which any node looks at a table whose racers have lost their places."""

MOST: Final = Millis(2**53)


class NotSaved(Enum):
    """Why a table was not written."""

    CHANGED = auto()
    """The store has another version, or a move was made that the record lacks."""
    ELSEWHERE = auto()
    """A player who would sit down has a seat elsewhere, or does not exist any more."""
    REPEATED = auto()
    """The player has opened a table with this key before."""
    ENTERED = auto()
    """The player has entered the open race before, or it is closed."""


class TableWrite(Struct, frozen=True, kw_only=True):
    """A change of a table."""

    version: int
    """The version on which the change was judged; 0: the table must not exist yet."""
    before: TableState | None
    after: TableState
    opening_banked: int = 0
    """Cards that the deal of a starting race puts on the foundations."""
    finish: RaceFinish | None = None
    key: str = ""
    """The host's random key for a new table; empty = none."""
    entry: Run | None = None
    """The run that begins with this new table."""


class TableStore:
    """The tables in the store, their timers, and finished races."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def now(self) -> Millis:
        """Return the time of the store's clock, by which every deadline is judged."""
        seconds, micros = await self._client.command("TIME")
        return Millis(int(seconds) * 1000 + int(micros) // 1000)

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        """Return a table's version and packed body; `None` if there is none."""
        version, body = await self._client.durable("HMGET", table_key(code), "version", "body")
        return None if version is None else (int(version), body)

    async def load_versions(self, codes: Sequence[str]) -> list[int]:
        """Return the version of each table; 0 if there is none."""
        versions = await self._client.commands(
            [("HGET", table_key(code), "version") for code in codes]
        )
        return [int(version or 0) for version in versions]

    async def save_table(self, write: TableWrite) -> NotSaved | None:
        """Write a change durably; return `None`, or why nothing was written."""
        reason = await self._client.save(save_of(write))
        return reason if isinstance(reason, NotSaved) else None

    async def load_record(self, table: str, race: int) -> str | None:
        record = await self._client.command("HGET", records_key(table), race)
        return None if record is None else record.decode()

    async def due(self, until: Millis, limit: int) -> dict[str, Millis]:
        """Return the timers that run out until then, by table, in order of time."""
        found = await self._client.command(
            "ZRANGEBYSCORE", DUE, 0, until, "WITHSCORES", "LIMIT", 0, limit
        )
        pairs = zip(*[iter(found)] * 2, strict=True)
        return {code.decode(): Millis(int(float(at))) for code, at in pairs}

    async def forget_timer(self, code: str) -> None:
        """Remove the timer of a table that is not there."""
        await self._client.command("ZREM", DUE, code)

    async def set_timer(self, code: str, at: Millis | None) -> None:
        """Set when a table's next timer runs out; `None`: it has none."""
        if at is None:
            await self.forget_timer(code)
        else:
            await self._client.command("ZADD", DUE, at, code)

    async def list_public(self) -> list[TableSummary]:
        """Return at most `MOST_LISTED` tables: most people first, then newest first."""
        codes = await self._client.command("ZREVRANGE", PUBLIC, 0, MOST_LISTED - 1)
        found = await self._client.command("HMGET", SUMMARIES, *codes) if codes else []
        return [msgspec.msgpack.decode(each, type=TableSummary) for each in found if each]

    async def all_codes(self) -> AsyncIterator[str]:
        seen: set[str] = set()
        async for key in self._client.scan(table_key("*"), "hash"):
            code = key.removeprefix(table_key(""))
            if ":" not in code and code not in seen:
                seen.add(code)
                yield code


def save_of(write: TableWrite) -> Save:
    """Return the guards and writes of a table's change."""
    save, before, after = Save(), write.before, write.after
    code, table = after.code, table_key(after.code)
    save.only_if(NotSaved.CHANGED, table, "version", write.version or MISSING)
    if write.entry is not None and after.open is not None:
        save.only_if(NotSaved.ENTERED, open_key(after.open.id), "record", MISSING)
        save.only_if(NotSaved.ENTERED, runs_key(after.open.id), write.entry.player, MISSING)
        entry = msgspec.msgpack.encode(write.entry)
        save.do("HSET", runs_key(after.open.id), write.entry.player, entry)
    _seat_players(save, before, after, write.key)
    if starts_race(before, after):
        _open_boards(save, after, write.opening_banked)
    elif before is not None and before.phase is TablePhase.RUNNING:
        _raise_fences(save, before, after)
    if write.finish is not None:
        _finish_race(save, before or after, write.finish)
    save.do("HSET", table, "version", write.version + 1, "body", pack(replace(after, voided=None)))
    at = due(after)
    if _loses_racers(before, after):
        at = min(at or MOST, Millis(after.touched + LOOK_MILLIS))
    if at is None:
        save.do("ZREM", DUE, code)
    else:
        save.do("ZADD", DUE, at, code)
    _list_table(save, before, after)
    if after.phase is TablePhase.CLOSED:
        save.do("PEXPIRE", table, TABLE_KEPT)
        save.do("PEXPIRE", records_key(code), TABLE_KEPT)
    news = {"kind": "touched", "table": code, "version": write.version + 1}
    save.do("PUBLISH", NEWS, pack_for_lua(news))
    return save


def starts_race(before: TableState | None, after: TableState) -> bool:
    """Return whether the change starts the race."""
    is_running = after.phase is TablePhase.RUNNING
    return is_running and before is not None and before.phase is not TablePhase.RUNNING


def _loses_racers(before: TableState | None, after: TableState) -> bool:
    """Return whether boards are to be ended because of the change, by any node."""
    if before is None or after.phase is not TablePhase.RUNNING:
        return False
    return (before.left, before.is_ended_by_host) != (after.left, after.is_ended_by_host)


def _seat_players(save: Save, before: TableState | None, after: TableState, key: str) -> None:
    """Write the rows of players who sit down or stand up: a row names its player's table."""
    sat = set() if before is None else {seat.player for seat in before.seats}
    sits = {seat.player for seat in after.seats}
    for player in sorted(sits - sat):
        row = player_key(player)
        if key:
            save.only_if(NotSaved.REPEATED, row, "made_by", key, unless=True)
            save.do("HSET", row, "made_by", key, "made", after.code)
        save.only_if(NotSaved.ELSEWHERE, row, "table", "", after.code)
        save.do("HSET", row, "table", after.code)
    for player in sorted(sat - sits):
        save.do("HSET", player_key(player), "table", "")


def _open_boards(save: Save, table: TableState, banked: int) -> None:
    key, epochs = race_key(table.code, table.race), _epochs(table)
    racers = sorted(table.racers)
    fields: list[str | int | bytes] = ["start", table.start_at, "deadline", table.deadline]
    fields += ["commits", 0, "at", table.start_at, "open", len(racers)]
    fields += ["racers", pack_for_lua(racers)]
    for player in racers:
        fields += [f"{player}:epoch", epochs.get(player, 0)]
        fields += [f"{player}:length", 0, f"{player}:banked", banked, f"{player}:state", "racing"]
    save.do("HSET", key, *fields)


def _raise_fences(save: Save, before: TableState, after: TableState) -> None:
    """Fence off the older connections of racers who have come back."""
    if after.phase is not TablePhase.RUNNING:
        return
    key, known = race_key(after.code, after.race), _epochs(before)
    for player, epoch in _epochs(after).items():
        if player in after.racers and known.get(player) != epoch:
            save.do("HSET", key, f"{player}:epoch", epoch)


def _epochs(table: TableState) -> dict[str, int]:
    return {seat.player: seat.epoch for seat in table.seats}


def _finish_race(save: Save, before: TableState, finish: RaceFinish) -> None:
    """Write the record of a race that is over or was voided, and its results."""
    code, race = before.code, race_key(before.code, finish.race)
    if before.phase is TablePhase.RUNNING:
        if finish.entries is not None:
            save.only_if(NotSaved.CHANGED, race, "commits", finish.entries)
        save.do("HSET", race, "over", 1)
        for key in (race, *(log_key(code, finish.race, player) for player in before.racers)):
            save.do("PEXPIRE", key, FINISHED_LOGS_KEPT)
    if finish.run is not None and before.open is not None:
        run, open_id = finish.run, before.open.id
        save.do("HSET", runs_key(open_id), run.player, msgspec.msgpack.encode(run))
        save.do("HSET", run_logs_key(open_id), run.player, finish.record.encode())
        if finish.streak:
            save.do("HSET", streaks_key(run.player), before.settings.game, finish.streak)
            save.do("PEXPIRE", streaks_key(run.player), GUEST_KEPT)
        return
    save.do("HSET", records_key(code), str(finish.race), finish.record.encode())
    if finish.settlement is not None:
        save.do("HSET", table_key(code), f"counts:{finish.race}", 1)
        add_results(save, finish.settlement)
        save.do("PUBLISH", NEWS, pack_for_lua({"kind": "settled", "game": finish.settlement.game}))


def _list_table(save: Save, before: TableState | None, after: TableState) -> None:
    """Write the table's line in the public list, if it changes."""
    known, line = _line(before), _line(after)
    if line is None and known is not None:
        save.do("ZREM", PUBLIC, after.code)
        save.do("HDEL", SUMMARIES, after.code)
    elif line is not None and line != known:
        people, summary = line
        save.do("ZADD", PUBLIC, people * PEOPLE + after.created, after.code)
        save.do("HSET", SUMMARIES, after.code, msgspec.msgpack.encode(summary))


def _line(table: TableState | None) -> tuple[int, TableSummary] | None:
    """Return a table's connected people and its line in the list; `None` if it is not listed."""
    if table is None or table.phase is TablePhase.CLOSED or not table.seats:
        return None
    if not table.settings.public or table.locked:
        return None
    summary = TableSummary(
        code=table.code,
        game=table.settings.game,
        cap=table.settings.cap,
        host=table.name(table.host),
        phase=table.phase.value,
        seated=len(table.seats),
        seats=table.settings.seats,
    )
    return sum(seat.is_connected and not seat.bot for seat in table.seats), summary
