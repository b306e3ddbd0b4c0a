"""Apply the server's events to the session's state, in order, and give them to `FairnessDuties`."""

import asyncio
from dataclasses import replace
from typing import Final

from saratoga_client.local.settings import server_to_name
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import UnexpectedAnswer
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.moments import with_last_minute
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.session_tasks import SessionTasks
from saratoga_client.session.state import SessionState, first_state, link_changed, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_protocol import events
from saratoga_protocol.events import Event

MEASURE_EVERY: Final = 1.0
"""Seconds between two updates of the state by the clock."""

LOST_AGAIN: Final = "the server says that it has lost data again: do not count on its results"


class EventListener:
    """A reader of one table's events that updates the session's state."""

    def __init__(
        self,
        connection: Connection,
        store: StateStore,
        duties: FairnessDuties,
        records: RecordKeeper,
        tasks: SessionTasks,
    ) -> None:
        self._connection = connection
        self._store = store
        self._duties = duties
        self._records = records
        self._tasks = tasks
        self._entry_id: int | None = None
        """The id of the command that enters the table; its answer is the first event that counts."""
        self._takes_seat = False
        self._lost_before: dict[str, str] = {}
        """The reasons of `SeatLost` that came before that answer, by table."""
        self._checks: set[asyncio.Task[None]] = set()
        """The checks of records that are not finished."""

    def entering(self, command_id: int, *, takes_seat: bool) -> None:
        """Begin with the snapshot that answers this command; ignore all events before it.

        Earlier events may be of a table, or of a seat at this table, that the player left before. If
        the command `takes_seat` and the snapshot has no seat for the player, the seat is lost already.
        """
        self._entry_id, self._takes_seat = command_id, takes_seat

    async def follow(self) -> SessionState | None:
        """Read events until the table or the seat is gone; return the last state.

        Returns `None` after this client has closed the connection. Raises any other error that
        ended the connection.
        """
        async for event in self._connection.events():
            self._apply(event)
            state = self._store.state
            if state is not None and (state.seat_lost or state.phase == "closed"):
                return state
        return None

    async def finish_checks(self, table: str) -> None:
        """Wait for the records that are awaited, until each has come or is late."""
        for check in self._checks:
            check.cancel()
        await self._duties.finish(table, self._records.keep)

    async def measure(self) -> None:
        """Update what changes without an event every `MEASURE_EVERY` seconds: the round-trip time, the clock."""
        while True:
            state = self._store.state
            if state is not None:
                seconds = self._connection.round_trip
                millis = None if seconds is None else round(seconds * 1000)
                if state.round_trip_ms != millis:
                    state = replace(state, round_trip_ms=millis)
                state = with_last_minute(state, self._connection.now())
                if state is not self._store.state:
                    self._store.replace(state)
            await asyncio.sleep(MEASURE_EVERY)

    def link_changed(self, link: LinkState) -> None:
        """Show in the state that the connection was lost or restored."""
        state = self._store.state
        if state is not None:
            self._store.replace(link_changed(state, link, self._connection.now()))

    def _apply(self, event: Event) -> None:
        state = self._store.state
        if not self._is_ours(event):
            if state is None and isinstance(event, events.SeatLost):
                self._lost_before[event.table] = event.reason
            return
        state = self._after(state, event)
        self._store.replace(self._records.with_best(state))
        # At once, so that the duties have seen all events when the session acts on one, or ends.
        self._duties.see(event)
        if self._duties.observed.losses > 1:
            self._records.report(LOST_AGAIN)
        for race in self._duties.records.take_due():
            check = self._tasks.start(self._check(race))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)
        if self._duties.has_to_reveal:
            self._tasks.start(self._duties.reveal())

    def _is_ours(self, event: Event) -> bool:
        """Test whether an event counts for this session, and is not of a table or seat left before."""
        state = self._store.state
        if state is None:
            return isinstance(event, events.Snapshot) and event.re == self._entry_id
        if isinstance(event, events.Snapshot | events.TableChanged):
            return event.table.code == state.table.code
        return True

    def _after(self, state: SessionState | None, event: Event) -> SessionState:
        try:
            if state is not None:
                return next_state(state, event, self._connection.now())
            assert isinstance(event, events.Snapshot)
            first = first_state(self._connection.player, event)
            server = server_to_name(self._connection.url)
            return self._without_seat(replace(first, link=self._connection.state, server=server))
        except ValueError as fault:
            raise UnexpectedAnswer(f"the server sent an invalid board: {fault}") from fault

    def _without_seat(self, first: SessionState) -> SessionState:
        """Return the first state with the reason of the lost seat, if it has no seat for the player."""
        if not self._takes_seat or first.seat is not None:
            return first
        reason = self._lost_before.get(first.table.code) or first.table.notice
        return replace(first, seat_lost=reason or "Your seat was given up.")

    async def _check(self, race: str) -> None:
        proof = await self._duties.records.check(race, self._records.late)
        if proof is not None:
            self._records.keep(race, proof)
