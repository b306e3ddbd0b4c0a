"""Administrative actions on a running server, each written to the audit log.

An action is checked, written to the audit log, applied to the data in the store, and published to
the nodes, in this order. So every applied action is in the log, and takes effect even if no node is
running.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_bytes
from typing import Final

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import RULES
from saratoga_rules.position import Position
from saratoga_rules.records.record import PLAYER, POSITIVE, TABLE_CODE, RecordError, parse_record
from saratoga_server.domain.board import fold, open_board
from saratoga_server.domain.lookalikes import skeleton
from saratoga_server.domain.tables import (
    CommandRejected,
    TablePhase,
    TableState,
    close,
    closed_race,
    force_leave,
    forgotten,
    rename,
    unpack,
)
from saratoga_server.domain.tables.countdown import made_key
from saratoga_server.domain.tables.records import ReadLog, Voided
from saratoga_server.domain.usernames import BadName, checked_name
from saratoga_server.live.tables import Tables, Transition
from saratoga_server.ports import Damage, Millis, PlayerRow
from saratoga_server.store.news import Announce, NodeEvent, PlayerChanged, Settled
from saratoga_server.store.opening import Store

CLOSE_ATTEMPTS: Final = 100
"""The most times that the logs of a race are read to close its table while moves are made."""

DAMAGED: Final = "The stored data of the table {code} are damaged, so it cannot be changed."

LONGEST_ANNOUNCEMENT: Final = 500
"""The most characters of an announcement."""

_PLAYER: Final = re.compile(PLAYER)
_RACE: Final = re.compile(f"({TABLE_CODE})/({POSITIVE})")


class NotDone(Exception):
    """An action that cannot be carried out; nothing was changed, and the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLine:
    """A row of the administrator's list of tables."""

    code: str
    phase: str
    """The table's phase, or `damaged` if this server cannot read it."""
    game: str = "-"
    race: int = 0
    seated: int = 0
    seats: int = 0
    connected: int = 0
    host: str = ""
    """The host's name."""
    public: bool = False
    touched: str = "-"
    """The time of the last command at the table."""


@dataclass(frozen=True, slots=True)
class Administration:
    """The administrative actions, carried out in the name of one administrator."""

    stores: Store
    table_cache: Tables
    """The cache through which the actions change tables."""
    who: str
    """The name of the administrator, for the audit log."""

    async def tables(self) -> list[TableLine]:
        """Return every table that is not closed, also unreadable ones, busiest first."""
        lines = []
        async for code in self.stores.tables.all_codes():
            try:
                stored = await self.stores.tables.load_table(code)
                table = unpack(stored[1]) if stored else None
            except ValueError:
                lines.append(TableLine(code=code, phase="damaged"))
                continue
            if table is not None and table.phase is not TablePhase.CLOSED:
                lines.append(_line(table))
        return sorted(lines, key=lambda line: (-line.connected, -line.seated, line.code))

    async def close(self, code: str, reason: str) -> int:
        """Close a table; return the number of its seats that were taken.

        A race or countdown under way is voided, and gets a record.
        """
        await self._table(code)
        await self._note("close", code, reason)
        return len((await self._closed(code, reason)).seats)

    async def _closed(self, code: str, reason: str) -> TableState:
        """Close a table; return the table before that.

        The logs of a running race are read again if a move is made meanwhile.
        """
        for _ in range(CLOSE_ATTEMPTS):
            before = await self._table(code)
            try:
                race = None
                if before.phase is TablePhase.RUNNING:
                    race = closed_race(before, *await _read_logs(self.stores, before))

                def closed(
                    state: TableState, now: Millis, race: Voided | None = race
                ) -> TableState:
                    return close(state, reason, now=now, fresh_seed=token_bytes(32), race=race)

                applied = await self.table_cache.write(code, closed)
            except Damage:
                raise NotDone(DAMAGED.format(code=code)) from None
            except CommandRejected as refusal:
                if not refusal.retry:
                    raise NotDone(refusal.detail) from None
            else:
                return applied.before
        raise NotDone(f"Moves are made at {code} all the time. Try again.")

    async def close_all(self, reason: str) -> tuple[int, list[str]]:
        """Close every open table; return how many were closed, and why others were not."""
        closed, faults = 0, []
        for line in await self.tables():
            try:
                await self.close(line.code, reason)
            except NotDone as fault:
                faults.append(str(fault))
            else:
                closed += 1
        return closed, faults

    async def rename(self, player: str, wanted: str) -> tuple[str, str]:
        """Give a player another name; return the old name (or id) and the new one."""
        row = await self._player(player)
        try:
            name, look = checked_name(_readable(wanted))
        except BadName as fault:
            raise NotDone(str(fault)) from None
        holder = await self.stores.players.find_player(look)
        if holder not in (None, "", row.player):
            raise NotDone(f"{name} is taken, or looks like a name that is taken.")
        await self._note("rename", row.player, f"{row.name or '-'} to {name}")
        if await self.stores.players.claim_name(row.player, name, look, by_admin=True) is not None:
            raise NotDone(f"{name} is taken, or looks like a name that is taken.")
        if row.table is not None:
            await self._change(row.table, lambda state, _: rename(state, row.player, name))
        await self._publish(PlayerChanged(row.player))
        return row.name or row.player, name

    async def ban(self, player: str) -> str:
        """Ban a player until unbanned, and free the seat; return the player's id."""
        row = await self._player(player)
        await self._note("ban", row.player, row.name or "")
        await self.stores.players.set_banned(row.player, True)
        await self._vacate(row)
        await self._publish(PlayerChanged(row.player))
        return row.player

    async def unban(self, player: str) -> str:
        """Unban a player; return the player's id."""
        row = await self._player(player)
        if not row.banned:
            raise NotDone(f"{row.name or row.player} is not banned.")
        await self._note("unban", row.player, row.name or "")
        await self.stores.players.set_banned(row.player, False)
        return row.player

    async def void(self, race: str) -> str:
        """Remove a race's results from the leaderboards; return the game. The record stays."""
        named = _RACE.fullmatch(race)
        if named is None:
            raise NotDone(f"{race} is not a race. Write table and number, such as mint-otter-42/3.")
        record = await self.stores.tables.load_record(named[1], int(named[2]))
        if record is None:
            raise NotDone(f"There is no finished race {race}, or its record has expired.")
        try:
            read = parse_record(record)
        except RecordError as fault:
            raise NotDone(
                f"The record of {race} has no results that can be read: {fault}."
            ) from None
        game, players = read.game, [racer.player for racer in read.racers]
        await self._note("void", race, game)
        voided = self.stores.leaderboards.void_race(game, named[1], int(named[2]), players)
        if not await voided:
            raise NotDone(f"{race} is on no leaderboard: it was not ranked, or was voided already.")
        await self._publish(Settled(game))
        return game

    async def announce(self, text: str) -> int:
        """Send a message to every connected player; return how many nodes received it."""
        text = " ".join(_readable(text).split())
        if not text or len(text) > LONGEST_ANNOUNCEMENT:
            raise NotDone(f"An announcement has 1 to {LONGEST_ANNOUNCEMENT} characters.")
        await self._note("announce", "", text)
        return await self._publish(Announce(text))

    async def forget(self, player: str) -> str:
        """Delete a player's name and results, and free the seat; return the player's id.

        For 30 days nobody can take the name; nothing stored says whose it was. Matches keep the
        results, under the player's id. Records of finished races keep the name until they expire
        with their table.
        """
        row = await self._player(player)
        await self._note("forget", row.player)
        await self.stores.audit.forget(row.player)
        await self._vacate(row)
        async for code in self.stores.tables.all_codes():
            with suppress(CommandRejected):  # an unreadable table stays as it is
                await self.table_cache.write(code, lambda state, _: forgotten(state, row.player))
            self.table_cache.forget(code)
        await self.stores.leaderboards.forget_results(row.player, await self.stores.tables.now())
        await self.stores.players.forget_player(row.player)
        await self._publish(PlayerChanged(row.player, is_deleted=True))
        return row.player

    async def audit(self, limit: int) -> list[dict[str, str]]:
        """Return the newest entries of the audit log, newest first."""
        return await self.stores.audit.read(limit)

    async def _publish(self, event: NodeEvent) -> int:
        """Publish the action to the nodes; return how many received it."""
        return await self.stores.events.publish(event)

    async def _note(self, act: str, target: str, detail: str = "") -> None:
        await note_act(self.stores, self.who, act, target, detail)

    async def _player(self, named: str) -> PlayerRow:
        """Return the player with this id, or with a name that looks like this one."""
        row = None
        if _PLAYER.fullmatch(named):
            row = await self.stores.players.load_player(named)
        if row is None:
            holder = await self.stores.players.find_player(skeleton(named))
            row = await self.stores.players.load_player(holder) if holder else None
            if row is not None and skeleton(row.name or "") != skeleton(named):
                row = None  # the player has given that name up
        if row is None:
            raise NotDone(f"There is no player with the name or id {named}.")
        return row

    async def _table(self, code: str) -> TableState:
        stored = await self.stores.tables.load_table(code)
        if stored is None:
            raise NotDone(f"There is no table {code}.")
        try:
            table = unpack(stored[1])
        except ValueError:
            raise NotDone(DAMAGED.format(code=code)) from None
        if table.phase is TablePhase.CLOSED:
            raise NotDone(f"The table {code} is closed already.")
        return table

    async def _vacate(self, row: PlayerRow) -> None:
        """Free the player's seat, at whatever table it is."""
        if row.table is None:
            return

        def left(state: TableState, now: Millis) -> TableState:
            return force_leave(state, row.player, now=now, fresh_seed=token_bytes(32))

        if await self._change(row.table, left) is None:
            await self.stores.players.free_seat(row.player, row.table)

    async def _change(self, code: str, transition: Transition) -> TableState | None:
        """Change a table as the nodes do; return it, or `None` if it does not exist."""
        try:
            return (await self.table_cache.write(code, transition)).table.state
        except CommandRejected as refusal:
            if refusal.code == "no_such_table":
                return None
            raise NotDone(refusal.detail) from None


def _line(table: TableState) -> TableLine:
    return TableLine(
        code=table.code,
        phase=table.phase.value,
        game=table.settings.game,
        race=table.race,
        seated=len(table.seats),
        seats=table.settings.seats,
        connected=sum(seat.is_connected for seat in table.seats),
        host=table.name(table.host) if table.host else "",
        public=table.settings.public,
        touched=_written(table.touched),
    )


async def note_act(stores: Store, who: str, act: str, target: str, detail: str) -> None:
    """Write an action of the administrator `who` to the audit log."""
    time = _written(await stores.tables.now())
    await stores.audit.append(
        {"time": time, "who": who, "act": act, "target": target, "detail": detail}
    )


def _written(moment: Millis) -> str:
    """Return a time as text: UTC, to the second."""
    return datetime.fromtimestamp(moment // 1000, UTC).isoformat().replace("+00:00", "Z")


def _readable(argument: str) -> str:
    """Read an argument as UTF-8 if the locale of this process could not."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


async def _read_logs(stores: Store, state: TableState) -> tuple[Position, dict[str, ReadLog]]:
    """Return the deal of a race and its logs by player, as far as they replay. Raises `Damage`."""
    key = made_key(state)
    game = RULES[state.rules_version][state.settings.game]
    opening, logs = deal_for_key(game, key), {}
    for player in state.racers:
        board = open_board(opening, state.start_at, key, state.race_id, player)
        with suppress(Damage):
            stored = await stores.boards.load_board(state.code, state.race, player)
            if stored is not None:
                for _ in fold(game, board, stored):
                    pass
                logs[player] = ReadLog(tuple(board.log), False, not board.racing)
        if player not in logs:
            logs[player] = ReadLog(tuple(board.log), damaged=True)
    return opening, logs
