"""A table in plain lines: commands run one after another, events are written as they happen.

A command is answered before the next line is read, so a script can list its commands in advance.
While the connection is lost or `wait` is running, a player at a terminal can still use the commands
that need only local state.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import asdict

from saratoga_client.local.hosting import friends_address
from saratoga_client.local.printed_command import table_command
from saratoga_client.local.settings import remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import LinkState
from saratoga_client.plain.board import money_words
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.event_lines import ChangeWriter
from saratoga_client.plain.grammar import Context, ParsedLine
from saratoga_client.plain.session import ExitReason, PlainSession, open_session
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import Destination
from saratoga_client.session.join import stop_watching
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.starting import Begin
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import is_call
from saratoga_client.session.witness import Witness
from saratoga_protocol.events import TableSettings

CHECKED_WITHIN: Final = 60.0
"""Most seconds to wait for the checks of records at the end of the input."""

KEPT_FOR: Final = 60
"""Seconds for which the server keeps a disconnected racer's seat."""


async def play_table(
    connection: Connection,
    table: str | TableSettings,
    *,
    is_watching: bool = False,
    begin: Begin | None = None,
    session: PlainSession | None = None,
    witness: Witness | None = None,
    records: RecordStore | None = None,
) -> ExitReason:
    """Join, watch or create a table and stay until the player leaves. Raises `Problem`.

    `begin` runs beside it.
    """
    session = session or open_session()
    table_session = TableSession(connection, witness=witness, records=records)
    match table:
        case TableSettings():
            opened = await table_session.open_table(**asdict(table))
            remember_server(connection.url, opened.code)
            if begin is None:  # no bots are asked for: friends are to come
                friends = session.friends or await friends_address(connection.url)
                session.output.write(f"invitation: {Destination(opened.code, friends).page}")
        case str() if is_watching:
            await table_session.watch(table)
        case str():
            remember_server(connection.url, (await table_session.sit_down(table)).code)
    try:
        return await stay_at_table(table_session, session, begin=begin, is_watching=is_watching)
    finally:
        if is_watching:
            await stop_watching(connection, str(table))


async def stay_at_table(
    table_session: TableSession,
    session: PlainSession,
    *,
    begin: Begin | None = None,
    is_watching: bool = False,
) -> ExitReason:
    """Write a table's events and carry out commands until the player leaves.

    `begin` gives commands beside the player's own. The table session must have joined, created or
    watched the table before. Raises `Problem`.
    """

    async def begin_beside() -> None:
        try:
            if begin is not None:
                await begin(table_session)
        except Problem as problem:
            session.output.write(f"no: {problem}")

    session.table = table_session
    beside = asyncio.create_task(begin_beside())
    try:
        return await PlainTable(table_session, session, is_watching=is_watching).stay()
    finally:
        beside.cancel()
        await asyncio.wait([beside])


class PlainTable:
    """The command loop and the event output of a player or a watcher at a table."""

    def __init__(
        self, table_session: TableSession, session: PlainSession, *, is_watching: bool = False
    ) -> None:
        self._table = table_session
        self._session = session
        self._is_watching = is_watching
        self._context = Context.WATCHING if is_watching else Context.TABLE
        self._writer = ChangeWriter(session.output, table_session.now)
        self._commands = TableCommands(session, table_session, self._writer, self._context)
        self._changed = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        """The last command that was not answered at once; it waits for the one before it."""
        self._is_waiting = False
        """True while the command `wait` waits for its event."""

    async def stay(self) -> ExitReason:
        """Follow the table and carry out commands until the player leaves or the table closes."""
        following = asyncio.create_task(self._table.attend(), name="following")
        writing = asyncio.create_task(self._write_changes(), name="writing")
        reading = asyncio.create_task(self._read_commands(), name="reading")
        try:
            await asyncio.wait((following, writing, reading), return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                await writing  # the last state
            elif reading.done():
                return reading.result()
            await following
            return ExitReason.LEFT
        finally:
            self._writer.pause()
            if self._table.state is not None:
                self._session.alarms.extend(self._table.state.alarms)
            tasks = [task for task in (following, writing, reading, self._work) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write_changes(self) -> None:
        # every one: a line on a board's end is due before those of the result
        async for state in self._table.states(every=True):
            self._writer.show(state)
            self._changed.set()

    @property
    def _state(self) -> SessionState:
        assert self._table.state is not None, "commands are read once the table is known"
        return self._table.state

    # Commands

    async def _read_commands(self) -> ExitReason:
        await self._until(lambda: self._table.state is not None)
        while True:
            parsed = await self._session.command(self._context)
            if parsed is None:
                return await self._end_of_input()
            self._table.note_activity()
            if parsed.command is not None and parsed.command.name == "quit":
                self._write_seat_line("quit")
                return ExitReason.QUIT
            if parsed.command is not None and parsed.command.is_immediate:
                await self._commands.do(parsed)
                continue
            self._work = asyncio.create_task(self._do(parsed, self._work))
            self._work.add_done_callback(lambda _: self._changed.set())
            # After its first step the command has ended, or it waits for an event.
            await asyncio.sleep(0)
            await self._until(self._may_read_on)
            if self._work.done():
                self._work.result()
            if self._commands.has_left:
                return ExitReason.LEFT

    async def _do(self, parsed: ParsedLine, before: asyncio.Task[None] | None) -> None:
        """Carry out a command after the one before it."""
        if before is not None:
            await before
        self._is_waiting = parsed.command is not None and parsed.command.name == "wait"
        self._changed.set()
        await self._commands.do(parsed)

    def _may_read_on(self) -> bool:
        """Return whether to read the next line: no command runs, or a person types at a terminal."""
        if self._work is None or self._work.done():
            return True
        is_away = self._state.link is not LinkState.CONNECTED
        return self._session.output.is_interactive and (is_away or self._is_waiting)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    # Leaving

    async def _end_of_input(self) -> ExitReason:
        """Leave when the input has ended, but keep the seat of a board that is still racing.

        A board is never cashed out without a command.
        """
        if self._work is not None:
            await self._work
        await self._until(
            lambda: self._state.phase not in ("call", "countdown") or not self._is_racer
        )
        own = self._state.own
        gives_up = not self._is_watching and not (own is not None and own.is_racing)
        if gives_up:
            await self._until(lambda: self._state.phase != "running" or not self._is_racer)
        await self._races_checked()
        if gives_up:
            self._session.output.write("input: no more lines")
            await self._commands.leave()
        else:
            self._write_seat_line("input: no more lines")
        return ExitReason.INPUT_ENDED

    @property
    def _is_racer(self) -> bool:
        state = self._state
        if is_call(state.table):
            return state.seat is not None and state.seat.ready
        return state.table.racer(state.player) is not None

    async def _races_checked(self) -> None:
        """Wait for the result of a race that is over, and for the verdicts on all records."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECKED_WITHIN):
                await self._until(
                    lambda: (
                        self._state.phase != "over" or self._state.table_view.outcome is not None
                    )
                )
                await self._until(lambda: not self._table.is_checking)

    def _write_seat_line(self, why: str) -> None:
        """Write a line on the seat and the board that the player leaves."""
        state = self._state
        if self._is_watching:
            self._session.output.write(f"{why}; you no longer watch this table")
            return
        own = state.own
        board = ""
        if own is not None and own.is_racing:
            board = f"; your board stays as it is, {money_words(own.game, own.view)}"
        self._session.output.write(
            f"{why}{board}; your seat is kept for {KEPT_FOR} seconds. "
            f"To come back: {table_command('join', state.table.code, state.server)}"
        )
