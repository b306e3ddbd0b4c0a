"""What the house says, heard in order: it becomes the evening, and the seat does its duty by it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import UnexpectedAnswer
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.session_tasks import SessionTasks
from saratoga_client.session.state import SessionState, first_state, link_changed, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_protocol import events
from saratoga_protocol.events import AnyEvent

SEEN_BY_THE_SEAT: Final = (
    events.Snapshot,
    events.TableChanged,
    events.Dealt,
    events.RaceOver,
)
"""The events by which a seat does its duty."""

MEASURE_EVERY: Final = 1.0
"""Seconds between two looks at how long the way to the house is."""


class EventListener:
    """Hears the events of one table, and lays the evening on the desk."""

    def __init__(
        self,
        house: Connection,
        desk: StateStore,
        seat: FairnessDuties,
        registrar: RecordKeeper,
        chores: SessionTasks,
    ) -> None:
        self._house = house
        self._desk = desk
        self._seat = seat
        self._registrar = registrar
        self._chores = chores

    async def follow(self, is_gone: Callable[[SessionState], None]) -> None:
        """Until the house says no more, or the table is gone and `is_gone` was told.

        Raises what ended the connection.
        """
        async for event in self._house.events():
            self._hear(event)
            evening = self._desk.evening
            if evening is not None and (evening.gone or evening.phase == "closed"):
                is_gone(evening)
                return

    async def measure(self) -> None:
        """For ever, see how long the way to the house is."""
        while True:
            journey = self._house.journey
            millis = None if journey is None else round(journey * 1000)
            evening = self._desk.evening
            if evening is not None and evening.round_trip_ms != millis:
                self._desk.lay(replace(evening, round_trip_ms=millis))
            await asyncio.sleep(MEASURE_EVERY)

    def turn(self, state: LinkState) -> None:
        """The connection was lost, or is back."""
        evening = self._desk.evening
        if evening is not None:
            self._desk.lay(link_changed(evening, state, self._house.now()))

    def _hear(self, event: AnyEvent) -> None:
        evening = self._desk.evening
        if evening is None and not isinstance(event, events.Snapshot):
            return
        if isinstance(event, events.Snapshot | events.TableChanged) and not self._is_here(event):
            return
        evening = self._after(evening, event)
        # chores begin in the order in which they are given: the seat has seen the event before
        # anybody who is told of it acts on it
        if isinstance(event, SEEN_BY_THE_SEAT):
            self._chores.begin(self._do_duty(event))
        self._desk.lay(self._registrar.with_best(evening))

    def _is_here(self, event: events.Snapshot | events.TableChanged) -> bool:
        """Whether it is of this table; one that was left may have said its last meanwhile."""
        code, evening = event.table.code, self._desk.evening
        return self._house.follows(code) if evening is None else code == evening.table.code

    def _after(self, evening: SessionState | None, event: AnyEvent) -> SessionState:
        try:
            if evening is not None:
                return next_state(evening, event, self._house.now())
            assert isinstance(event, events.Snapshot)
            first = first_state(self._house.welcome.player, event)
            return replace(first, link=self._house.state)
        except ValueError as fault:
            raise UnexpectedAnswer(f"a board that is none: {fault}") from fault

    async def _do_duty(self, event: AnyEvent) -> None:
        await self._seat.hear(event)
        if isinstance(event, events.Snapshot | events.RaceOver) and event.outcome is not None:
            await self._registrar.take_in(event.outcome, self._seat.record)
