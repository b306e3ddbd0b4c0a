"""A player at a table, in lines: orders are carried out one after another, news are said at once.

An order is answered before the next one is read, so a script may write them down one below the
other. Only where a person types, and while the connection is lost or they wait for something, are
those that need no house answered out of turn.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, ServerClosed, Unreachable
from saratoga_client.net.link_state import LinkState
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.event_lines import LineStyle, change_lines, opening_lines
from saratoga_client.plain.grammar import Context, ParsedLine
from saratoga_client.plain.position import money_words
from saratoga_client.plain.session import ExitReason, PlainSession, open_session
from saratoga_client.plain.standings_rate import Told, telling
from saratoga_client.session.invitation import Destination, join_command
from saratoga_client.session.join import TableWanted
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol.commands import UnwatchTable

GOODBYE: Final = 2.0
"""Seconds for a last word to the house."""

KEPT_FOR: Final = 60
"""Seconds for which the house keeps the seat of a racer who has hung up."""


class Place(Enum):
    """How one comes to a table whose code one has."""

    SEAT = auto()
    WATCHING = auto()
    """Watching."""


async def play_table(
    connection: Connection,
    table: str | TableWanted,
    *,
    place: Place = Place.SEAT,
    session: PlainSession | None = None,
    witness: Witness | None = None,
    keepsakes: RecordStore | None = None,
) -> ExitReason:
    """Sit down (or stand) at a table, or open one, and stay until one goes. Raises `Problem`."""
    table_session = TableSession(connection, witness=witness, records=keepsakes)
    match table:
        case TableWanted():
            await table_session.open_table(
                table.game, cap=table.cap, seats=table.seats, public=table.public
            )
        case str() if place is Place.SEAT:
            await table_session.sit_down(table)
        case str():
            await table_session.watch(table)
    try:
        return await stay_at_table(table_session, session or open_session(), place)
    finally:
        if place is Place.WATCHING and connection.state is LinkState.CONNECTED:
            await stop_watching(connection, str(table))


async def stay_at_table(
    table_session: TableSession, session: PlainSession, place: Place = Place.SEAT
) -> ExitReason:
    """Write what happens at a table and carry out commands, from the seat until it is left.

    Raises `Problem`.
    """
    return await PlainTable(session, table_session, place).stay()


async def stop_watching(connection: Connection, code: str) -> None:
    """Tell the house that nobody watches any more; if it cannot be told, it does not matter."""
    with suppress(CommandRefused, RequestTimedOut, ServerClosed, Unreachable):
        await connection.request(partial(UnwatchTable, table=code), within=GOODBYE)


class PlainTable:
    """Somebody at a table, and the talk with them."""

    def __init__(
        self, session: PlainSession, table_session: TableSession, place: Place = Place.SEAT
    ) -> None:
        self._session = session
        self._table_session = table_session
        self._context = Context.TABLE if place is Place.SEAT else Context.WATCHING
        self._state: SessionState | None = None
        self._news = asyncio.Event()
        self._queue: asyncio.Queue[ParsedLine] = asyncio.Queue()
        self._unfinished = 0
        self._table_commands: TableCommands | None = None
        self._told = Told()
        self._later: asyncio.TimerHandle | None = None

    def turn(self, state: SessionState) -> None:
        """The evening has changed: say what is new."""
        style = LineStyle(self._session.card_names, self._session.is_verbose)
        now = self._table_session.now()
        if self._state is None:
            self._session.output.write_all(opening_lines(state, style, now))
        elif self._table_commands is None or not self._table_commands.is_leaving:
            self._session.output.write_all(change_lines(self._state, state, style, now))
        self._state = state
        self._write_standings()
        self._news.set()

    def _write_standings(self) -> None:
        """Say what is new in the standings, now or when it is time."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._state is None or (
            self._table_commands is not None and self._table_commands.is_leaving
        ):
            return
        now, is_verbose = self._table_session.now(), self._session.is_verbose
        self._told, lines, wait = telling(self._told, self._state, now, is_verbose=is_verbose)
        self._session.output.write_all(lines)
        if wait is not None:
            self._later = asyncio.get_running_loop().call_later(wait / 1000, self._write_standings)

    async def stay(self) -> ExitReason:
        """Attend the table and carry out orders, until either ends."""
        self._table_session.subscribe(self.turn)
        attending = asyncio.create_task(self._table_session.attend(), name="attending")
        talking = asyncio.create_task(self._read_commands(), name="talking")
        working = asyncio.create_task(self._work(), name="orders")
        tasks = (attending, talking, working)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if talking.done() and not attending.done():
                return talking.result()
            if working.done() and not attending.done():
                working.result()
            await attending
            return ExitReason.LEFT
        finally:
            if self._later is not None:
                self._later.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # Orders

    async def _read_commands(self) -> ExitReason:
        await self._until(lambda: self._state is not None)
        self._table_commands = TableCommands(self._session, self._table_session, self._context)
        while True:
            parsed = await self._session.command(self._context)
            if parsed is None:
                return await self._after_the_last_line()
            if parsed.command is not None and parsed.command.name == "quit":
                self._write_goodbye("quit")
                return ExitReason.QUIT
            if parsed.command is not None and parsed.command.is_quick:
                await self._table_commands.do(parsed)
                continue
            self._unfinished += 1
            self._queue.put_nowait(parsed)
            await self._until(self._may_go_on)
            if self._table_commands.has_left:
                return ExitReason.LEFT

    def _may_go_on(self) -> bool:
        """Whether the next line may be read: all is done, or somebody types and it will take long."""
        if self._session.output.is_interactive and (self._is_away or self._is_waiting):
            return True
        return not self._unfinished

    @property
    def _is_away(self) -> bool:
        return self._state is not None and self._state.link is not LinkState.CONNECTED

    @property
    def _is_waiting(self) -> bool:
        return self._table_commands is not None and self._table_commands.is_waiting

    async def _work(self) -> None:
        while True:
            parsed = await self._queue.get()
            assert self._table_commands is not None, "orders are read when the table is there"
            work = asyncio.create_task(self._table_commands.do(parsed))
            # whether the deed waits is known after its first step
            await asyncio.sleep(0)
            self._news.set()
            await work
            self._unfinished -= 1
            self._news.set()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._news.clear()
            await self._news.wait()

    # Going

    async def _after_the_last_line(self) -> ExitReason:
        """There will be no more orders: a board still raced stays as it is, every other seat is left.

        Nothing is cashed out that nobody has cashed out.
        """
        assert self._table_commands is not None, "lines are read when the table is there"
        await self._until(lambda: not self._unfinished)
        await self._until(lambda: self._phase != "countdown" or not self._is_racer)
        own = None if self._state is None else self._state.own
        if self._context is Context.TABLE and not (own is not None and own.is_racing):
            await self._until(lambda: self._phase != "running" or not self._is_racer)
            self._session.output.write("input: there are no more lines")
            await self._table_commands.leave()
        else:
            self._write_goodbye("input: there are no more lines")
        return ExitReason.INPUT_ENDED

    @property
    def _phase(self) -> str:
        return "" if self._state is None else self._state.phase

    @property
    def _is_racer(self) -> bool:
        state = self._state
        return state is not None and state.player in state.table.racers

    def _write_goodbye(self, why: str) -> None:
        """Say what becomes of the seat."""
        state = self._state
        if state is None or self._context is Context.WATCHING:
            self._session.output.write(f"{why}: you watch no longer")
            return
        own = state.own
        board = ""
        if own is not None and own.is_racing:
            board = f" your board stays as it is, {money_words(own.game, own.view)};"
        self._session.output.write(
            f"{why}:{board} your seat is kept for {KEPT_FOR} seconds: "
            f"{join_command(Destination(state.table.code))}"
        )
