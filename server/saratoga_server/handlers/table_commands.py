"""Handlers of seated players' commands: settings, kick, lock, ready, start, reveal and others.

Each command is one transition of the table.
"""

from collections.abc import Callable
from typing import TypeAlias

from saratoga_protocol.commands import (
    AllowReady,
    ChangeSettings,
    EndRace,
    Kick,
    LockTable,
    NextRace,
    NotReady,
    Ready,
    Reveal,
    Start,
)
from saratoga_protocol.events import Done
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, CommandRejected, TableState
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.session import Session
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import Millis

SeatCommand: TypeAlias = (
    AllowReady | ChangeSettings | Kick | LockTable | Ready | NotReady | Start | Reveal | NextRace
)
SeatTransition: TypeAlias = Callable[[TableState, Millis], Change]


class TableHandlers:
    """The handlers of commands that need a seat; each raises `CommandRejected` without one."""

    def __init__(
        self,
        table_service: TableService,
        public_tables: PublicTables,
        clock: ServerClock,
        new_seed: NewSeed,
    ) -> None:
        self._table_service = table_service
        self._public_tables = public_tables
        self._clock = clock
        self._new_seed = new_seed

    async def change_settings(self, session: Session, command: ChangeSettings) -> Done:
        def changed(table: TableState, now: Millis) -> Change:
            _check_commitment(table, command.commitment)
            if command.public:
                self._public_tables.check_place(session, table.code)
            return tables.change_settings(
                table,
                session.player,
                command.id,
                game=command.game,
                cap=command.cap,
                seats=command.seats,
                public=command.public,
                races=command.races,
                now=now,
                fresh_seed=self._new_seed(),
            )

        answer = await self._act(session, command, changed)
        if command.public:
            self._public_tables.take_place(session, command.table)
        return answer

    async def kick(self, session: Session, command: Kick) -> Done:
        def kicked(table: TableState, now: Millis) -> Change:
            seat = table.seat(command.player)
            if command.epoch and seat is not None and seat.epoch != command.epoch:
                raise CommandRejected(
                    "no_such_player",
                    "That player has come back meanwhile. Look at the table again.",
                )
            return tables.kick(
                table,
                session.player,
                command.id,
                target=command.player,
                now=now,
                fresh_seed=self._new_seed(),
            )

        return await self._act(session, command, kicked)

    async def lock(self, session: Session, command: LockTable) -> Done:
        def locked(table: TableState, now: Millis) -> Change:
            _check_race(table, command.race)
            return tables.lock(table, session.player, command.id, locked=command.locked, now=now)

        return await self._act(session, command, locked)

    async def allow_ready(self, session: Session, command: AllowReady) -> Done:
        def allowed(table: TableState, now: Millis) -> Change:
            return tables.allow_ready(
                table, session.player, command.id, target=command.player, now=now
            )

        return await self._act(session, command, allowed)

    async def ready(self, session: Session, command: Ready) -> Done:
        def readied(table: TableState, now: Millis) -> Change:
            return tables.ready(
                table,
                session.player,
                command.id,
                commitment=command.commitment,
                nonce_hash=command.nonce_hash,
                now=now,
            )

        return await self._act(session, command, readied)

    async def not_ready(self, session: Session, command: NotReady) -> Done:
        def unreadied(table: TableState, now: Millis) -> Change:
            return tables.not_ready(table, session.player, command.id, now=now)

        return await self._act(session, command, unreadied)

    async def start(self, session: Session, command: Start) -> Done:
        def started(table: TableState, now: Millis) -> Change:
            _check_race(table, command.race)
            return tables.start(table, session.player, command.id, now=now)

        return await self._act(session, command, started)

    async def reveal(self, session: Session, command: Reveal) -> Done:
        arrived = self._clock.now()

        def revealed(table: TableState, now: Millis) -> Change:
            _check_commitment(table, command.commitment)
            # the store may stall while this command waits for the table
            return tables.reveal(
                table, session.player, command.id, nonce=command.nonce, now=min(arrived, now)
            )

        return await self._act(session, command, revealed)

    async def end_race(self, session: Session, command: EndRace) -> Done:
        def ended(table: TableState, now: Millis) -> Change:
            return tables.end_race(table, session.player, command.id, race_id=command.race, now=now)

        code = command.race.partition("/")[0]
        return await self._act_at(session, code, command.id, ended)

    async def next_race(self, session: Session, command: NextRace) -> Done:
        def gathered(table: TableState, now: Millis) -> Change:
            _check_race(table, command.race)
            return tables.next_race(
                table, session.player, command.id, now=now, fresh_seed=self._new_seed()
            )

        return await self._act(session, command, gathered)

    async def _act(
        self, session: Session, command: SeatCommand, transition: SeatTransition
    ) -> Done:
        return await self._act_at(session, command.table, command.id, transition)

    async def _act_at(
        self, session: Session, code: str, command_id: int, transition: SeatTransition
    ) -> Done:
        """Make one transition, unless it is a repeat, and return the answer."""

        def once(table: TableState, now: Millis) -> Change | None:
            if tables.is_repeat(table, session.player, command_id):
                return None
            seat = table.seat(session.player)
            if seat is not None and (session.seat != table.code or session.has_lost(seat)):
                raise CommandRejected(
                    "taken_over", "This connection does not hold your seat. Join the table again."
                )
            return transition(table, now)

        await self._table_service.change(code, once)
        return Done(re=command_id)


def _check_race(table: TableState, race: str | None) -> None:
    """Raise `CommandRejected` if a command names another race than the table's."""
    if race and race != table.race_id:
        raise CommandRejected("no_such_race", f"The race at this table is {table.race_id}.")


def _check_commitment(table: TableState, commitment: str | None) -> None:
    """Raise `CommandRejected` if a command names another commitment than the table's."""
    if commitment and commitment != table.commitment:
        raise CommandRejected("wrong_commitment")
