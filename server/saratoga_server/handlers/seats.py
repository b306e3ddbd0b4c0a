"""Tables, as players ask for them: come, go, get ready, start.

Each command becomes one transition of the table on the floor; `after_change` then does what the
change means for connections and boards.
"""

import secrets
from collections.abc import Callable, Sequence
from typing import Final

from saratoga_protocol.commands import (
    CreateTable,
    JoinTable,
    LeaveTable,
    Resume,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import (
    BoardView,
    Done,
    SeatLost,
    Snapshot,
    Standing,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.table_codes import table_code
from saratoga_server.domain.tables import Change, Phase, Refusal, TableState
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.move_service import MoveService
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.races import RaceCache
from saratoga_server.live.refusals import too_much
from saratoga_server.live.seat_registry import SeatRegistry
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache, Transition, fresh_seed
from saratoga_server.live.watching import check_room_to_watch
from saratoga_server.ports import Millis, PlayerStore, TableStore
from saratoga_server.rate_limits.rates import Action

MOST_WATCHED: Final = 16
"""Tables that one connection may watch."""

ATTEMPTS: Final = 8
"""Codes that are tried for a new table."""


class _CodeTaken(Exception):
    """The code was free when it was drawn, and another player has opened a table there since."""

    def __init__(self, passed_over: Sequence[str]) -> None:
        """`passed_over`: where the player may have a seat, as `SeatRegistry.taking` gives it."""
        super().__init__()
        self.passed_over = passed_over


class SeatHandlers:
    """Serves the commands about tables."""

    def __init__(
        self,
        tables: TableStore,
        players: PlayerStore,
        table_cache: TableCache,
        races: RaceCache,
        moves: MoveService,
        broadcaster: Broadcaster,
        clock: ServerClock,
        node: str,
        seed: Callable[[], bytes] = fresh_seed,
    ) -> None:
        self._tables = tables
        self._players = players
        self._table_cache = table_cache
        self._races = races
        self._moves = moves
        self._broadcaster = broadcaster
        self._clock = clock
        self._node = node
        self._seed = seed
        self.places = SeatRegistry(players, table_cache, seed)
        self.places.on_let_back = self._let_go
        self.public = PublicTables(tables)

    # Coming

    async def create(self, session: Session, command: CreateTable) -> Snapshot:
        """Open a table with the player as its host."""
        settings = tables.checked_settings(
            tables.Settings(
                game=command.game, cap=command.cap, seats=command.seats, public=command.public
            )
        )
        _named(session)
        if wait := session.quota.take(Action.TABLE):
            raise too_much("Too many tables were opened.", wait)
        code = await self._players.reserve_code(session.player, command.id, await self._free_code())
        name = await self._present_name(session)
        passed_over: Sequence[str] = ()
        for _ in range(ATTEMPTS):
            try:
                return await self._opened(session, command.id, settings, name, code, passed_over)
            except _CodeTaken as taken:
                passed_over = taken.passed_over
                code = await self._players.reserve_code(
                    session.player, command.id, await self._free_code(), instead_of=code
                )
        raise _no_table_free()

    async def _opened(
        self,
        session: Session,
        command_id: int,
        settings: tables.Settings,
        name: str,
        code: str,
        passed_over_before: Sequence[str],
    ) -> Snapshot:
        """The new table, or the one that the command had opened before; raises `_CodeTaken`."""
        player = session.player
        async with self.places.taking(player, code, passed_over_before) as passed_over:
            change = tables.new_table(
                code,
                settings,
                player,
                name,
                command_id,
                bot=session.bot,
                node=self._node,
                hello=session.hello,
                now=self._clock.now(),
                fresh_seed=self._seed(),
            )
            live_table = await self._table_cache.open(change.table)
            if live_table is not None:
                await self.public.opened(live_table)
                epoch = change.table.epoch
                return await self._seated(session, command_id, live_table, epoch, passed_over)
            if await self.places.may_have_been_at(player, code):
                # asked again: the table is there already
                return await self._come_back(session, command_id, code, passed_over)
            await self._players.stand_up(player, code)
        raise _CodeTaken(passed_over)

    async def join(self, session: Session, command: JoinTable) -> Snapshot:
        """Sit down at a table, or come back to one's seat."""
        name = await self._present_name(session)

        def joined(table: TableState, now: Millis) -> Change:
            return tables.join(
                table,
                session.player,
                name,
                command.id,
                bot=session.bot,
                node=self._node,
                hello=session.hello,
                now=now,
            )

        try:
            async with self.places.taking(session.player, command.table) as passed_over:
                return await self._sit_down(session, command.id, command.table, joined, passed_over)
        except Refusal as refusal:
            live_table = self._table_cache.known(command.table)
            if refusal.code == "stale_id" and live_table is not None:
                # whoever let the seat go could not say how far its ids had come
                last_id = live_table.state.departed.get(session.player, 0)
                await self._players.raise_last_id(session.player, last_id)
            raise

    async def resume(self, session: Session, command: Resume) -> Snapshot:
        """Come back to one's seat."""
        return await self._come_back(session, command.id, command.table)

    async def _come_back(
        self, session: Session, command_id: int, code: str, passed_over: Sequence[str] = ()
    ) -> Snapshot:
        def resumed(table: TableState, now: Millis) -> Change:
            return tables.resume(
                table, session.player, node=self._node, hello=session.hello, now=now
            )

        return await self._sit_down(session, command_id, code, resumed, passed_over)

    async def _sit_down(
        self,
        session: Session,
        command_id: int,
        code: str,
        transition: Transition,
        passed_over: Sequence[str] = (),
    ) -> Snapshot:
        """The connection holds the seat from now on; an older one of the player's lets go."""
        taken = 0

        def noted(table: TableState, now: Millis) -> Change | None:
            nonlocal taken
            if not session.connection.is_open:
                # whoever lost this line is back over another one, and that is the newer one
                raise Refusal("taken_over")
            change = transition(table, now)
            taken = session.claimed = change.table.epoch if change else 0
            return change

        before, session.seat = session.seat, None  # or it would be the older one itself
        try:
            live_table = await self._table_cache.change(code, noted)
        except BaseException:
            session.seat = before
            raise
        return await self._seated(session, command_id, live_table, taken, passed_over)

    async def _seated(
        self,
        session: Session,
        command_id: int,
        live_table: LiveTable,
        epoch: int,
        passed_over: Sequence[str] = (),
    ) -> Snapshot:
        """The seat was taken with that epoch, and may have been taken over since."""
        if live_table.state.seat(session.player) is None:
            raise Refusal("not_seated")
        session.seat, session.epoch, session.claimed = live_table.code, epoch, epoch
        self._broadcaster.follow(session, live_table.code)
        self.tell_the_older(live_table)
        if session.seat is None:
            raise Refusal("taken_over")
        await self.places.make_sure(session.player, live_table.code, epoch, passed_over)
        return await self.snapshot(session, command_id, live_table)

    def tell_the_older(self, live_table: LiveTable) -> None:
        """Close the connections whose seat a newer connection has taken over."""
        for other in self._broadcaster.audience(live_table.code):
            seat = live_table.state.seat(other.player) if other.seat == live_table.code else None
            if seat is not None and other.has_lost(seat):
                other.seat = None
                other.connection.close(TAKEN_OVER)

    async def holds_seat(self, session: Session) -> bool:
        """Whether the store, too, has this connection as the one that holds the player's seat."""
        if session.seat is None:
            return False
        await self._table_cache.refresh(session.seat)
        live_table = self._table_cache.known(session.seat) if session.seat else None
        seat = None if live_table is None else live_table.state.seat(session.player)
        return seat is not None and not session.has_lost(seat)

    async def _present_name(self, session: Session) -> str:
        row = await self._players.load_player(session.player)
        session.name = None if row is None else row.name
        return _named(session)

    async def renamed(self, player: str, name: str) -> None:
        """The player is called otherwise from now on: on every connection, and on the seat."""
        for session in self._broadcaster.sessions_of(player):
            session.name = name
        row = await self._players.load_player(player)
        if row is None or row.table is None:
            return

        def called(table: TableState, now: Millis) -> Change | None:
            return tables.rename(table, player, name)

        try:
            await self._table_cache.change(row.table, called)
        except Refusal as refusal:
            if refusal.code != "no_such_table":  # else it is long gone
                raise

    async def _free_code(self) -> str:
        for _ in range(ATTEMPTS):
            code = table_code(secrets.randbelow)
            if await self._tables.load_table(code) is None:
                return code
        raise _no_table_free()

    # Going

    async def leave(self, session: Session, command: LeaveTable) -> Done:
        """Give the seat up."""

        def left(table: TableState, now: Millis) -> Change | None:
            if tables.is_repeat(table, session.player, command.id):
                return None
            return tables.leave(table, session.player, command.id, now=now, fresh_seed=self._seed())

        live_table = await self._table_cache.change(command.table, left)
        await self._let_go(session.player, live_table)
        return Done(re=command.id)

    async def gone(self, session: Session) -> None:
        """The connection is lost: the seat is kept for a while."""
        code, session.seat = session.seat, None
        if code is None:
            return

        def disconnected(table: TableState, now: Millis) -> Change | None:
            return tables.disconnect(table, session.player, session.epoch, now=now)

        await self._table_cache.change(code, disconnected)

    async def _let_go(self, player: str, live_table: LiveTable, reason: str | None = None) -> None:
        """The player has no seat at the table any more; `reason`: and did not ask for that."""
        code = live_table.code
        if live_table.state.seat(player) is not None:
            return  # sat down again meanwhile
        for session in self._broadcaster.audience(code):
            if session.player == player and session.seat == code:
                session.seat = None
                if code not in session.watching:
                    self._broadcaster.unfollow(session, code)
                if reason is not None:
                    session.tell(SeatLost(table=code, reason=reason))
        await self.places.give_up(player, code, live_table.state.departed.get(player, 0))

    # Watching

    async def watch(self, session: Session, command: WatchTable) -> Snapshot:
        """Follow a table without a seat."""
        if len(session.watching) >= MOST_WATCHED and command.table not in session.watching:
            raise Refusal("too_fast", f"One connection may watch {MOST_WATCHED} tables.")
        live_table = await self._table_cache.live_table(command.table)
        if live_table.state.phase is Phase.CLOSED:
            raise Refusal("table_closed")
        check_room_to_watch(session, live_table.code, self._broadcaster.audience(live_table.code))
        session.watching |= {live_table.code}
        self._broadcaster.follow(session, live_table.code)
        return await self.snapshot(session, command.id, live_table)

    async def unwatch(self, session: Session, command: UnwatchTable) -> Done:
        """Stop following."""
        session.watching -= {command.table}
        if session.seat != command.table:
            self._broadcaster.unfollow(session, command.table)
        return Done(re=command.id)

    # What everyone may know

    async def snapshot(self, session: Session, command_id: int, live_table: LiveTable) -> Snapshot:
        """All that this connection may know of the table."""
        state = live_table.state
        seat = state.seat(session.player) if session.seat == live_table.code else None
        next_id = 1 if seat is None else seat.last_id + 1
        board: BoardView | None = None
        standings: list[Standing] = []
        if state.phase is Phase.RUNNING:
            race = await self._races.of(live_table)
            standings = race.standings().standings
            if seat is not None and session.player in race.stands:
                own = await self._moves.board_taken_up(race, session.player)
                board = race.view(own, session.legal)
                next_id = max(next_id, own.last_id + 1)
        return Snapshot(
            re=command_id,
            table=live_table.picture(),
            now=self._clock.now(),
            next_id=next_id,
            board=board,
            standings=standings,
            outcome=state.outcome,
        )

    async def seat_lost(self, live_table: LiveTable, player: str, reason: str) -> None:
        """Somebody lost the seat without asking for it."""
        await self._let_go(player, live_table, reason)

    async def closed(self, live_table: LiveTable, reason: str) -> None:
        """The table is closed: nobody sits or watches there any more."""
        for session in self._broadcaster.audience(live_table.code):
            session.tell(SeatLost(table=live_table.code, reason=reason))
            session.watching -= {live_table.code}
            if session.seat == live_table.code:
                session.seat = None
                await self.places.give_up(session.player, live_table.code, 0)
            self._broadcaster.unfollow(session, live_table.code)
        await self.public.closed(live_table.code)


def _no_table_free() -> Refusal:
    return Refusal("store_unavailable", "No table is free at the moment. Try again.")


def _named(session: Session) -> str:
    if session.name is None:
        raise Refusal("name_needed")
    return session.name
