"""A player's session at a table: its state follows the events, its actions send commands.

`attend` runs as long as the player keeps the seat. The actions raise `Problem`, a message with a
remedy. `play` never waits: it shows a move at once if the move turns no card up,
and takes it back if the server refuses it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import Any, Final, TypeVar

from saratoga_client.local.settings import server_to_name
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, UnexpectedAnswer
from saratoga_client.net.requests import Draft
from saratoga_client.net.timing import Backoff
from saratoga_client.problems import Exit, Problem
from saratoga_client.review.boards import OpenBoard
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.move_sender import MoveSender
from saratoga_client.session.open_connection import (
    CONNECTION_ERRORS,
    problem_for,
    seat_lost_problem,
    with_alarms,
)
from saratoga_client.session.open_race import PAR_WITHIN, open_challenge, par_of
from saratoga_client.session.own_board import with_move
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.result_text import voided_problem
from saratoga_client.session.run_watch import OpenBook, RunWatch
from saratoga_client.session.state import SessionState, first_state, link_changed, next_state
from saratoga_client.session.state_store import StateStore, StateStoreClosed
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import (
    Command,
    CreateTable,
    EnterOpen,
    GetRecord,
    JoinTable,
    LeaveTable,
)
from saratoga_protocol.events import Event
from saratoga_rules.moves import Move
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_rules.records.standing import IDLE_MILLIS

WARNED_AT: Final = (15, 60)
"""Seconds before the board's end at which the player is warned, the last warning first. A host is
warned once, at the first of them: whether the place passes on depends on the others too."""


def may_end_as_idle(state: SessionState) -> bool:
    """Return whether the server ends the player's board after three minutes without a sign."""
    own = state.own
    is_racing = own is not None and own.is_racing and state.phase == "running"
    return is_racing and len(state.table.seats) > 1


def may_lose_host(state: SessionState) -> bool:
    """Return whether the server makes another person host after three minutes without a sign."""
    others = (seat for seat in state.table.seats if seat.player != state.player and not seat.bot)
    return state.is_host and state.is_between_races and any(others)


class Activity:
    """The time since the player's last sign of activity; writes `SessionState.idle_left`.

    It counts by the server's clock, which goes on while this machine is suspended. The server
    counts from its last start at the earliest, and says so in every snapshot.
    """

    def __init__(self, store: StateStore, now: Callable[[], int]) -> None:
        """`now` returns the server's time in milliseconds since 1970."""
        self._store = store
        self._now = now
        self._since = 0
        """The time of the last sign; 0 if this program has not seen one."""
        self._warned_at: tuple[int, ...] = ()
        """`_warned_at` of the state at the last check."""

    def note(self) -> None:
        """Note a sign of activity; a warning ends."""
        self._since = self._now()
        self._warn(0)

    def check(self) -> None:
        """Warn if it is time."""
        state = self._store.state
        if state is None:
            return
        before, self._warned_at = self._warned_at, _warned_at(state)
        if not self._warned_at or (before and before != self._warned_at):
            self.note()
            return
        since = max(self._since, state.idle_since, state.start_at)
        left = since + IDLE_MILLIS - self._now()
        at = next((seconds for seconds in self._warned_at if left <= seconds * 1000), 0)
        self._warn(at, since + IDLE_MILLIS if at else 0)

    def _warn(self, left: int, until: int = 0) -> None:
        state = self._store.state
        if state is not None and state.idle_left != left:
            self._store.replace(replace(state, idle_left=left, idle_until=until))


def _warned_at(state: SessionState) -> tuple[int, ...]:
    """Return how many seconds before the end of the three minutes the player is warned; empty if never."""
    if may_end_as_idle(state):
        return WARNED_AT
    return WARNED_AT[-1:] if may_lose_host(state) else ()


LOG: Final = logging.getLogger("saratoga.racing")

LOOK_EVERY: Final = 0.5
"""Seconds between two looks at what changes without an event: the round-trip time, the clock, idleness."""

LOST_AGAIN: Final = "the server says that it has lost data again: do not count on its results"

LEAVE_TIMEOUT: Final = 5.0
"""Seconds to wait for the answer to a leave command while the connection is lost; three times as
many otherwise, because the server may have died unnoticed."""

LEFT_UNHEARD: Final = Problem(
    "You left, but the server can't be reached, so it does not know.",
    "It frees your seat a minute after the connection was lost, or join again to keep the seat. "
    "What you have banked counts.",
    Exit.UNREACHABLE,
)

Result = TypeVar("Result")


class _Ended(Exception):
    """The error that ends all tasks of a session that has ended in order."""


class TableSession:
    """A player at one table, with a seat or watching."""

    def __init__(
        self,
        connection: Connection,
        *,
        witness: Witness | None = None,
        records: RecordStore | None = None,
        watch: RunWatch | None = None,
        backoff: Backoff = Backoff(),  # noqa: B008 - frozen
    ) -> None:
        """Save sightings in `witness` and races in `records`; by default, in the player's folders.

        `watch` keeps what is seen of a run in an open race, by default in the player's folder, too.
        """
        witness = Witness() if witness is None else witness
        records = RecordStore() if records is None else records
        self._connection = connection
        self._store = StateStore(connection.now)
        self._move_sender = MoveSender(connection, self._store, backoff)
        self._duties = FairnessDuties(connection, witness)
        self._records = RecordKeeper(connection, self._duties, records, self._store)
        self._watch = watch or RunWatch(connection.player)
        self._activity = Activity(self._store, connection.now)
        self._tasks: asyncio.TaskGroup | None = None
        """The tasks of `attend`; the first error of one ends the session."""
        self._checks: set[asyncio.Task[object]] = set()
        """The checks of records that are not finished."""
        self._ended = asyncio.Event()
        self._end: Problem | None = None
        """The error with which `attend` ends after `leave` or the loss of the seat."""
        self._entry_id: int | None = None
        """The id of the command that enters the table; its answer is the first event that counts.

        Earlier events may be of a table, or of a seat at this table, that the player left before.
        """
        self._lost_before: dict[str, str] = {}
        """The reasons of `SeatLost` that came before that answer, by table."""
        self._is_watching = False
        self._has_left = False

    @property
    def state(self) -> SessionState | None:
        """The current state; `None` before the server has sent the table."""
        return self._store.state

    @property
    def server(self) -> str:
        """The server's address."""
        return self._connection.url

    @property
    def is_checking(self) -> bool:
        """True while the record of a finished race is being fetched and checked."""
        return self._records.is_awaiting()

    def states(self, *, every: bool = False) -> AsyncIterator[SessionState]:
        """Yield the newest or `every` state now and after changes, until the session ends (`StateStore.states`)."""
        return self._store.states(every=every)

    def now(self) -> int:
        """Return the server's time in milliseconds since 1970."""
        return self._connection.now()

    def note_activity(self) -> None:
        """Note that the player has pressed a key, clicked, scrolled or typed a line."""
        self._activity.note()
        if not self._is_watching:
            self._connection.show_activity()

    # Sitting down and staying

    async def open_table(
        self, game: str, *, cap: int = 10, seats: int = 16, public: bool = False, races: int = 1
    ) -> events.Table:
        """Create a table and sit down as its host; return the table.

        `cap` is the time limit in minutes; 0 for none. `races` is the length of a match; 1 for no
        match.
        """
        return await self._enter(
            partial(
                CreateTable,
                game=game,
                cap=cap,
                seats=seats,
                public=public,
                races=races,
                key=token_hex(16),  # a repeat with it opens no second table
            )
        )

    async def sit_down(self, code: str) -> events.Table:
        """Take a seat, or return to the player's own; return the table."""
        return await self._enter(partial(JoinTable, table=code), code)

    async def enter_open(self, race: str) -> events.Table:
        """Begin the player's run in an open race, or return to it; return its table."""
        return await self._enter(partial(EnterOpen, open=race))

    async def challenge(self, race: str = "") -> events.OpenRace:
        """Open a challenge on the deal of a finished race, or on a fresh deal of the table's game."""
        assert self.state is not None, "the server has not sent the table yet"
        game = self.state.table.settings.game
        opening = open_challenge(self._connection, OpenBook(), game, race or None)
        return await self._explained(opening)

    async def watch(self, code: str) -> events.Table:
        """Follow the table without a seat; return the table."""
        self._is_watching = True
        return await self._enter(partial(JoinTable, table=code, seat=False), code)

    async def attend(self) -> None:
        """Follow the table until the player leaves it; raises `Problem` if the seat is lost.

        Call `open_table`, `sit_down` or `watch` before it or while it runs.
        """
        unsubscribe = self._connection.subscribe(self._link_changed)
        self._link_changed(self._connection.state)
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._tasks.create_task(self._follow())
                self._tasks.create_task(self._look())
                await self._ended.wait()
                raise _Ended
        except ExceptionGroup as group:
            first = group.exceptions[0]
            if self._ended.is_set():
                first = self._end or _Ended()
            elif isinstance(first, CONNECTION_ERRORS):
                first = self._explain(first)
            elif not isinstance(first, Problem):
                LOG.error("unexpected error in a background task of the session", exc_info=first)
            if not isinstance(first, _Ended):
                raise first from None
        finally:
            unsubscribe()
            self._store.close()

    async def until(self, holds: Callable[[SessionState], bool]) -> SessionState:
        """Wait until the condition holds; return the state that fulfils it."""
        await self._explained(
            self._store.until(lambda: self.state is not None and holds(self.state))
        )
        assert self.state is not None
        return self.state

    # The race

    def play(self, move: Move) -> bool:
        """Make a move; return `False` if the board waits for an answer, has ended, or is missing.

        Raises `IllegalMove`, with a sentence for the player.
        """
        state, own = self.state, self._store.own
        if state is None or own is None or not own.may_move or self._store.is_closed:
            return False
        assert self._tasks is not None, "moves are made while `attend` runs"
        own = with_move(own, move)
        self._store.replace(replace(state, own=own))
        self._tasks.create_task(self._move_sender.send(own.race, own.in_flight[-1].ticket))
        return True

    async def cash_out(self) -> None:
        """End the board and keep the banked cards, after all moves in flight are answered."""
        await self._explained(self._move_sender.cash_out())

    async def record(self, race: str) -> RaceRecord:
        """Return the record of a finished race, from this machine or from the server."""
        # a record that is being checked is not fetched and checked a second time
        await self._explained(self._store.until(lambda: not self._records.is_awaiting(race)))
        text = self._records.kept(race)
        return (
            await self._explained(self._fetch_record(race)) if text is None else parse_record(text)
        )

    async def par(self, record: RaceRecord, within: float = PAR_WITHIN) -> OpenBoard | None:
        """Return what `par_of` does. Raises `Problem`."""
        return await self._explained(par_of(self._connection, record, within))

    async def _fetch_record(self, race: str) -> RaceRecord:
        answer = await self._connection.ask(partial(GetRecord, race=race), events.Record)
        proof = await self._records.prove(race, answer.text)
        if proof.record is None:
            remedy, code = "Update this program.", Exit.TOO_OLD
            if proof.is_contradicted:
                remedy, code = "Report this to the operator of the server.", Exit.NOT_VERIFIED
            raise Problem(f"Race {race} can't be read. {proof.sentence}", remedy, code)
        if proof.record.voided:
            raise voided_problem(proof.record, race, server_to_name(self.server))
        return proof.record

    # The table

    async def ready(self) -> None:
        """Mark the player ready for the next race, with a nonce drawn once for each deal."""
        if self.state is not None and self.state.game is None:
            game = self.state.table.settings.game
            raise Problem(
                f"This program does not know the game {game}, so you can't race it.",
                "Update this program: install it again from where you got it. Or watch this race.",
                Exit.TOO_OLD,
            )
        await self._explained(self._duties.ready())

    async def not_ready(self) -> None:
        """Remove the player's ready mark."""
        await self._explained(self._duties.not_ready())

    async def send(self, kind: type[Command], **fields: Any) -> None:
        """Send a host's command about this table: `Start`, `ChangeSettings`, `Kick` and so on. Raises `Problem`.

        It names the table, and the race or deal that the table shows, or a random key, so that a
        late repeat touches no other and adds nothing twice.
        """
        assert self.state is not None, "the server has not sent the table yet"
        table = self.state.table
        shown = {"table": table.code, "race": table.race, "commitment": table.commitment}
        shown["key"] = token_hex(16)
        named: dict[str, Any] = {
            key: shown[key] for key in shown.keys() & set(kind.__struct_fields__)
        }
        await self._explained(self._connection.request(partial(kind, **named, **fields)))

    async def leave(self) -> bool:
        """Give up the seat, and the race if one is running; `attend` returns then.

        Return whether the server has confirmed it. If no server answers, `attend` ends
        nevertheless; for a player with a seat it raises a `Problem` that says when the seat is
        freed. Raises `Problem` if the server refuses.
        """
        assert self.state is not None, "the server has not sent the table yet"
        self._has_left = True
        self._duties.leaving()
        is_away = self._connection.state is not LinkState.CONNECTED
        try:
            await self._connection.request(
                partial(LeaveTable, table=self.state.table.code),
                LEAVE_TIMEOUT if is_away else 3 * LEAVE_TIMEOUT,
            )
        except CONNECTION_ERRORS as error:
            if isinstance(error, CommandRefused) and not self._is_watching:
                self._has_left = False
                raise self._explain(error) from error
            self._finish(None if self._is_watching else LEFT_UNHEARD)
            return False
        self._finish()
        return True

    # Requests

    async def _enter(self, draft: Draft, code: str = "") -> events.Table:
        def numbered(*, id: int) -> Command:  # noqa: A002 - the wire's name
            self._entry_id = id
            return draft(id=id)

        try:
            return (await self._connection.ask(numbered, events.Snapshot)).table
        except (*CONNECTION_ERRORS, StateStoreClosed) as error:
            problem = self._explain(error)
            if isinstance(error, CommandRefused) and code:
                await self._finish_checks(code)
                problem = with_alarms(problem, self._duties.alarms)
            raise problem from error

    async def _explained(self, work: Awaitable[Result]) -> Result:
        """Await `work` and return its result; turn an error of the connection into a `Problem`."""
        try:
            return await work
        except (*CONNECTION_ERRORS, StateStoreClosed) as error:
            raise self._explain(error) from error

    def _explain(self, error: Exception) -> Problem:
        return problem_for(self._connection.url, error)

    # Following the table

    def _finish(self, problem: Problem | None = None) -> None:
        """End `attend`, with an error or without; only the first call counts."""
        if not self._ended.is_set():
            self._end = problem
            self._ended.set()

    async def _follow(self) -> None:
        """Apply the server's events in order until the table is closed or the seat is lost; then end the session."""
        async for event in self._connection.events():
            self._apply(event)
            state = self.state
            if state is not None and (state.seat_lost or state.phase == "closed"):
                break
        else:
            state = None  # this program has closed the connection
        if state is None or self._has_left:
            self._finish()
            return
        problem = seat_lost_problem(state, self._is_watching)
        await self._finish_checks(state.table.code)
        self._finish(with_alarms(problem, self._duties.alarms))

    async def _look(self) -> None:
        """Update what changes without an event, every `LOOK_EVERY` seconds."""
        while True:
            self._activity.check()
            await asyncio.sleep(LOOK_EVERY)

    def _link_changed(self, link: LinkState) -> None:
        """Show in the state that the connection was lost or restored."""
        if self.state is not None:
            self._store.replace(link_changed(self.state, link))

    def _apply(self, event: Event) -> None:
        if not self._is_ours(event):
            if self.state is None and isinstance(event, events.SeatLost):
                self._lost_before[event.table] = event.reason
            return
        self._store.replace(self._records.with_best(self._after(event)))
        # At once, so that the duties have seen all events when the session acts on one, or ends.
        self._duties.see(event)
        self._watch.see(event, self.now())
        if self._duties.losses > 1:
            self._store.report(LOST_AGAIN)
        assert self._tasks is not None, "events are followed by `attend`"
        for race in self._records.take_due():
            check = self._tasks.create_task(self._records.check(race))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)
        if self._duties.has_to_reveal:
            self._tasks.create_task(self._duties.reveal())

    def _is_ours(self, event: Event) -> bool:
        """Test whether an event counts for this session, and is not of a table or seat left before."""
        if self.state is None:
            return isinstance(event, events.Snapshot) and event.re == self._entry_id
        if isinstance(event, events.Snapshot | events.TableChanged):
            return event.table.code == self.state.table.code
        return True

    def _after(self, event: Event) -> SessionState:
        try:
            if self.state is not None:
                return next_state(self.state, event, self.now())
            assert isinstance(event, events.Snapshot)
            first = first_state(self._connection.player, event)
        except ValueError as fault:
            raise UnexpectedAnswer(f"the server sent an invalid board: {fault}") from fault
        seat_lost = ""
        if not self._is_watching and first.seat is None:
            table = first.table
            seat_lost = (
                self._lost_before.get(table.code) or table.notice or "Your seat was given up."
            )
        return replace(
            first,
            link=self._connection.state,
            server=server_to_name(self.server),
            seat_lost=seat_lost,
        )

    async def _finish_checks(self, table: str) -> None:
        """Wait for the records that are awaited, until each has come or is late."""
        for check in self._checks:
            check.cancel()
        await self._records.finish(table)
