"""Handlers of seats: opening a table, joining, resuming, leaving, and lost connections."""

import asyncio
import secrets
from typing import Final

from msgspec.structs import replace

from saratoga_protocol.commands import CreateTable, JoinTable, LeaveTable, Resume
from saratoga_protocol.events import Done, Snapshot
from saratoga_server.background_tasks import run_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.table_codes import table_code
from saratoga_server.domain.tables import Change, CommandRejected, TableState
from saratoga_server.handlers.snapshots import Snapshots
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.refusals import too_much, unknown_player
from saratoga_server.live.seat_registry import SeatRegistry
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache, Transition
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import Millis, Reservation
from saratoga_server.rate_limits.rates import Action
from saratoga_server.store.players import PlayerStore

ATTEMPTS: Final = 8
"""The number of codes that are tried for a new table."""


class SeatHandlers:
    """The handlers of `create_table`, `join_table`, `resume` and `leave_table`."""

    def __init__(
        self,
        players: PlayerStore,
        table_cache: TableCache,
        table_service: TableService,
        seats: Seats,
        seat_registry: SeatRegistry,
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
        self._seat_registry = seat_registry
        self._public_tables = public_tables
        self._snapshots = snapshots
        self._broadcaster = broadcaster
        self._clock = clock
        self._node = node
        self._new_seed = new_seed

    # Opening a table

    async def create(self, session: Session, command: CreateTable) -> Snapshot:
        """Open a table with the player as its host; return its snapshot. Raises `CommandRejected`.

        Takes three round trips: reserve code and row, write the table, check the row.
        """
        settings = tables.checked_settings(
            tables.TableOptions(
                game=command.game,
                cap=command.cap,
                seats=command.seats,
                public=command.public,
                races=command.races,
            )
        )
        _check_named(session)
        if wait := session.quota.take(Action.TABLE):
            raise too_much("You opened too many tables.", wait)
        before: list[str] = []
        taken: str | None = None
        for _ in range(ATTEMPTS):
            reserved = await self._players.reserve_table(
                session.player, command.id, table_code(secrets.randbelow), instead_of=taken
            )
            if reserved.is_stale:
                raise CommandRejected("stale_id")
            if not reserved.code:
                raise unknown_player()
            session.name = reserved.name
            if reserved.is_repeat:
                opened = await self._opened_before(session, command.id, reserved.code)
                if opened is not None:
                    return opened
                elsewhere = await self._players.sit(session.player, reserved.code)
                reserved = replace(reserved, elsewhere=elsewhere)
            answer = await self._created(session, command.id, settings, reserved, before)
            if answer is not None:
                return answer
            taken = reserved.code
        raise CommandRejected(
            "store_unavailable", "The server found no free table code. Try again."
        )

    async def _opened_before(self, session: Session, command_id: int, code: str) -> Snapshot | None:
        """Return the answer to a repeat that had opened the table; `None` if it had not."""
        if await self._seats.state(code) is None:
            return None
        table = await self._table_cache.get(code)
        if table.state.seat(session.player) is not None:
            return await self._come_back(session, command_id, code, [])
        return await self._snapshots.snapshot(session, command_id, table)

    async def _created(
        self,
        session: Session,
        command_id: int,
        settings: tables.TableOptions,
        reserved: Reservation,
        before: list[str],
    ) -> Snapshot | None:
        """Open the table, or find the one that this command opened before; return its snapshot.

        Returns `None` if the code is taken. Adds tables of other seats to `before`.
        """
        player, code = session.player, reserved.code
        async with self._seat_registry.taking(
            player, code, reserved.elsewhere, before
        ) as rows_before:
            change = tables.new_table(
                code,
                settings,
                player,
                _check_named(session),
                command_id,
                bot=session.bot,
                level=session.level,
                node=self._node,
                hello=session.hello,
                opened_from=await self._public_tables.opener_of(session),
                now=self._clock.now(),
                fresh_seed=self._new_seed(),
            )
            table = await self._table_cache.open(change.table)
            if table is not None:
                epoch = change.table.epoch
                answer, is_listed = await asyncio.gather(
                    self._seated(session, command_id, table, epoch, rows_before),
                    run_logged(self._public_tables.opened(table)),
                )
                if not is_listed:
                    table.falls_behind(table.known)  # the next check of the tables lists it
                # the notice may say that the public list has no place for the table
                if table.version != answer.table.version:
                    return await self._snapshots.snapshot(session, command_id, table)
                return answer
            if await self._seats.seat(player, code) is not None:
                return await self._come_back(session, command_id, code, rows_before)
            await self._seats.free(player, code)
        before[:] = rows_before
        return None

    # Joining and resuming

    async def join(self, session: Session, command: JoinTable) -> Snapshot:
        """Give the player a seat, new or present; return a snapshot. Raises `CommandRejected`.

        A repeated command gives no seat to a player who has lost it meanwhile.
        """
        row = await self._players.load_player(session.player)
        if row is None:
            raise unknown_player()
        session.name = row.name
        name = _check_named(session)
        code = command.table
        is_repeat = row.joined == f"{code} {command.id}"
        if is_repeat and await self._seats.seat(session.player, code) is None:
            raise CommandRejected(
                "stale_id", "You gave up that seat after this request. Join again with a new id."
            )

        def joined(state: TableState, now: Millis) -> Change:
            return tables.join(
                state,
                session.player,
                name,
                command.id,
                bot=session.bot,
                level=session.level,
                node=self._node,
                hello=session.hello,
                now=now,
            )

        elsewhere = await self._players.sit(session.player, code)
        async with self._seat_registry.taking(session.player, code, elsewhere) as before:
            snapshot = await self._sit_down(session, command.id, code, joined, before)
        # when the seat is given up, a repeat of this command must not take another one
        await self._players.note_join(session.player, code, command.id)
        return snapshot

    async def resume(self, session: Session, command: Resume) -> Snapshot:
        """Give the player's seat to this connection; return a snapshot."""
        return await self._come_back(session, command.id, command.table, [])

    async def _come_back(
        self, session: Session, command_id: int, code: str, before: list[str]
    ) -> Snapshot:
        def resumed(state: TableState, now: Millis) -> Change:
            return tables.resume(
                state,
                session.player,
                level=session.level,
                node=self._node,
                hello=session.hello,
                now=now,
            )

        return await self._sit_down(session, command_id, code, resumed, before)

    async def _sit_down(
        self,
        session: Session,
        command_id: int,
        code: str,
        transition: Transition,
        before: list[str],
    ) -> Snapshot:
        """Give the player's seat to this connection, replacing an older one; return a snapshot."""
        taken = 0

        def noted(state: TableState, now: Millis) -> Change | None:
            nonlocal taken
            if not session.connection.is_open:
                # the player has another connection, and that one is newer
                raise CommandRejected("taken_over")
            change = transition(state, now)
            taken = session.claimed = change.table.epoch if change else 0
            return change

        held, session.seat = (
            session.seat,
            None,
        )  # otherwise this connection would count as the older one
        try:
            table = await self._table_service.change(code, noted)
        except BaseException:
            session.seat = held
            raise
        return await self._seated(session, command_id, table, taken, before)

    async def _seated(
        self, session: Session, command_id: int, table: LiveTable, epoch: int, before: list[str]
    ) -> Snapshot:
        """Register the seat taken with that epoch, and return a snapshot of the table.

        Raises `CommandRejected` if a newer connection has taken the seat over.
        """
        if table.state.seat(session.player) is None:
            raise CommandRejected("not_seated")
        session.seat, session.epoch, session.claimed = table.code, epoch, epoch
        session.lost_seat = ""
        self._broadcaster.follow(session, table.code)
        self._broadcaster.close_replaced(table.state)
        if session.seat is None:
            raise CommandRejected("taken_over")
        await self._seat_registry.check(session.player, table.code, epoch, before)
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
        """Free the player's seat, if any, and return the answer. Raises `CommandRejected`."""

        def left(state: TableState, now: Millis) -> Change | None:
            if state.seat(session.player) is None:
                return None
            if tables.is_repeat(state, session.player, command.id):
                return None
            seed = self._new_seed()
            return tables.leave(state, session.player, command.id, now=now, fresh_seed=seed)

        table = await self._table_service.change(command.table, left)
        await self._seats.lost(table, session.player)
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
