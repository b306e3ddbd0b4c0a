"""Handlers of seats: opening a table, joining, watching, leaving, and lost connections."""

import secrets
from collections.abc import Iterable
from typing import Final

from saratoga_protocol.commands import CreateTable, JoinTable, LeaveTable
from saratoga_protocol.events import Done, Snapshot
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.table_codes import table_code
from saratoga_server.domain.tables import Change, CommandRejected, TablePhase, TableState
from saratoga_server.handlers.snapshots import Snapshots
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.refusals import too_much, unknown_player
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import SitsElsewhere, TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import Millis
from saratoga_server.rate_limits.rates import MAX_WATCHERS, Action
from saratoga_server.store.players import PlayerStore
from saratoga_server.store.tables import NotSaved

ATTEMPTS: Final = 8
"""The number of codes that are tried for a new table."""

MOST_WATCHED: Final = 16
"""The most tables that one connection may watch."""


class SeatHandlers:
    """The handlers of `create_table`, `join_table` and `leave_table`."""

    def __init__(
        self,
        players: PlayerStore,
        table_cache: TableCache,
        table_service: TableService,
        seats: Seats,
        public_tables: PublicTables,
        snapshots: Snapshots,
        broadcaster: Broadcaster,
        clock: ServerClock,
        node: str,
        new_seed: NewSeed,
    ) -> None:
        self._players = players
        self._table_cache = table_cache
        self._table_service = table_service
        self._seats = seats
        self._public_tables = public_tables
        self._snapshots = snapshots
        self._broadcaster = broadcaster
        self._clock = clock
        self._node = node
        self._new_seed = new_seed

    # Opening a table

    async def create(self, session: Session, command: CreateTable) -> Snapshot:
        """Open a table with the player as its host; return its snapshot. Raises `CommandRejected`."""
        settings = tables.checked_settings(
            tables.TableOptions(
                game=command.game,
                cap=command.cap,
                seats=command.seats,
                public=command.public,
                races=command.races,
            )
        )
        name = _check_named(session)
        if wait := session.quota.take(Action.TABLE):
            raise too_much("You opened too many tables.", wait)
        if settings.public:
            self._public_tables.check_place(session)
        for _ in range(ATTEMPTS):
            table = tables.new_table(
                table_code(secrets.randbelow),
                settings,
                session.player,
                name,
                command.id,
                bot=session.bot,
                level=session.level,
                node=self._node,
                hello=session.hello,
                now=self._clock.now(),
                fresh_seed=self._new_seed(),
            ).table
            opened = await self._table_cache.open(table, command.key or "")
            if isinstance(opened, LiveTable):
                if settings.public:
                    self._public_tables.take_place(session, table.code)
                return await self._seated(session, command.id, opened, table.epoch)
            if opened is not NotSaved.CHANGED:
                return await self._opened_before(session, command)
        raise CommandRejected(
            "store_unavailable", "The server found no free table code. Try again."
        )

    async def _opened_before(self, session: Session, command: CreateTable) -> Snapshot:
        """Return the answer to a repeat that had opened its table. Raises `CommandRejected`."""
        row = await self._players.load_player(session.player)
        if row is None:
            raise unknown_player()
        if not command.key or row.made_by != command.key:
            raise await self._sits_elsewhere(session)
        table = await self._table_cache.get(row.made)
        if table.state.seat(session.player) is not None:
            return await self._sit_down(session, command.id, row.made)
        return await self._snapshots.snapshot(session, command.id, table)

    async def _sits_elsewhere(self, session: Session) -> CommandRejected:
        """Return why the player cannot sit down: the row names another table, or there is no row.

        A table that cannot be read holds nobody: then the player may try again.
        """
        row = await self._players.load_player(session.player)
        if row is None:
            return unknown_player()
        if row.table is None:
            return CommandRejected("store_unavailable", "You have just left a table. Try again.")
        try:
            await self._table_cache.get(row.table)
        except CommandRejected:
            await self._players.free_seat(session.player, row.table)
            return CommandRejected("store_unavailable", "Your last table is lost. Try again.")
        return CommandRejected(
            "elsewhere", f"You have a seat at {row.table}. Leave that table first."
        )

    # Joining and watching

    async def join(self, session: Session, command: JoinTable) -> Snapshot:
        """Give the player a seat, new or present, or watch; return a snapshot. Raises `CommandRejected`."""
        if command.seat:
            return await self._sit_down(session, command.id, command.table)
        return await self._watch(session, command.id, command.table)

    async def _watch(self, session: Session, command_id: int, code: str) -> Snapshot:
        """Follow a table without a seat; return its snapshot. Raises `CommandRejected`."""
        table = await self._table_cache.get(code)
        if table.state.phase is TablePhase.CLOSED:
            raise CommandRejected("table_closed")
        if session.seat != code:
            check_room_to_watch(session, code, self._broadcaster.audience(code))
            session.watching |= {code}
            self._broadcaster.follow(session, code)
        return await self._snapshots.snapshot(session, command_id, table)

    async def _sit_down(self, session: Session, command_id: int, code: str) -> Snapshot:
        """Give the player's seat to this connection, replacing an older one; return a snapshot."""
        name, taken = _check_named(session), 0

        def joined(state: TableState, now: Millis) -> Change:
            nonlocal taken
            if not session.connection.is_open:
                # the player has another connection, and that one is newer
                raise CommandRejected("taken_over")
            change = tables.join(
                state,
                session.player,
                name,
                command_id,
                bot=session.bot,
                level=session.level,
                node=self._node,
                hello=session.hello,
                now=now,
            )
            taken = session.claimed = change.table.epoch
            return change

        held, session.seat = (
            session.seat,
            None,
        )  # otherwise this connection would count as the older one
        try:
            table = await self._table_service.change(code, joined)
        except SitsElsewhere:
            session.seat = held
            raise await self._sits_elsewhere(session) from None
        except BaseException:
            session.seat = held
            raise
        return await self._seated(session, command_id, table, taken)

    async def _seated(
        self, session: Session, command_id: int, table: LiveTable, epoch: int
    ) -> Snapshot:
        """Register the seat taken with that epoch, and return a snapshot of the table.

        Raises `CommandRejected` if a newer connection has taken the seat over.
        """
        if table.state.seat(session.player) is None:
            raise CommandRejected("not_seated")
        session.seat, session.epoch, session.claimed = table.code, epoch, epoch
        session.lost_seat = ""
        session.watching -= {table.code}
        self._broadcaster.follow(session, table.code)
        self._broadcaster.close_replaced(table.state)
        if session.seat is None:
            raise CommandRejected("taken_over")
        return await self._snapshots.snapshot(session, command_id, table)

    async def holds_seat(self, session: Session) -> bool:
        """Return whether this connection holds the player's seat, according to the store."""
        if session.seat is None:
            return False
        await self._table_service.refresh(session.seat)
        table = self._table_cache.known(session.seat) if session.seat else None
        seat = None if table is None else table.state.seat(session.player)
        return seat is not None and not session.has_lost(seat)

    # Leaving

    async def leave(self, session: Session, command: LeaveTable) -> Done:
        """Free the seat that this connection holds, or stop watching. Raises `CommandRejected`."""
        code = command.table
        if code in session.watching:
            session.watching -= {code}
            self._broadcaster.unfollow(session, code)
            return Done(re=command.id)

        def left(state: TableState, now: Millis) -> Change | None:
            seat = state.seat(session.player)
            if seat is None or seat.hello != session.hello:
                return None
            if tables.is_repeat(state, session.player, command.id):
                return None
            seed = self._new_seed()
            return tables.leave(state, session.player, command.id, now=now, fresh_seed=seed)

        table = await self._table_service.change(code, left)
        self._seats.lost(table, session.player)
        return Done(re=command.id)

    async def disconnected(self, session: Session) -> None:
        """Mark the seat of a lost connection as disconnected. Raises `CommandRejected`."""
        code, session.seat = session.seat, None
        if code is None:
            return

        def disconnected(state: TableState, now: Millis) -> Change | None:
            return tables.disconnect(state, session.player, session.epoch, now=now)

        await self._table_service.change(code, disconnected)


def _check_named(session: Session) -> str:
    if session.name is None:
        raise CommandRejected("name_needed")
    return session.name


def check_room_to_watch(session: Session, code: str, audience: Iterable[Session]) -> None:
    """Raise `CommandRejected` if the connection watches too many tables, or the table has too many watchers."""
    if code in session.watching:
        return
    if len(session.watching) >= MOST_WATCHED:
        raise CommandRejected(
            "watch_limit", f"You watch {MOST_WATCHED} tables already. Stop watching one first."
        )
    watchers = [each.quota for each in audience if code in each.watching]
    if len(watchers) >= MAX_WATCHERS:
        raise CommandRejected(
            "table_full",
            "That table has the greatest possible number of watchers. Try again later.",
        )
    if not session.quota.may_watch_beside(watchers):
        raise CommandRejected(
            "table_full", "That table has too many watchers from your address. Try again later."
        )
