"""Fetch the record of a finished race, and compare it with what this machine saw of the race."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Final

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, UnexpectedAnswer
from saratoga_client.session.race_witness import GONE, WITHHELD, RaceWitness
from saratoga_client.session.testimony import Testimony, compare_with_record
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_rules.records.void_record import is_void_record

LOG: Final = logging.getLogger("saratoga.seat")

WITHHELD_AFTER: Final = 30.0
"""Seconds of connection after which a record that the server has not sent counts as withheld."""

ASK_AGAIN_AFTER: Final = 2.0
"""Seconds between two requests for a record."""

NOT_SENT: Final = (CommandRefused, RequestTimedOut, UnexpectedAnswer)


class RecordCheck:
    """The check of the records of one table's races against their sightings."""

    def __init__(self, connection: Connection, races: RaceWitness) -> None:
        self._connection = connection
        self._races = races
        self._begun: set[str] = set()
        """Ids of races whose record was requested, except those whose record was withheld."""
        self.testimonies: dict[str, Testimony] = {}
        """The comparison of every finished race with its record, by race id."""

    def begin(self, race: str) -> bool:
        """Mark the check of a race as begun; return whether it was not begun before."""
        is_new = race not in self._begun
        self._begun.add(race)
        return is_new

    async def check(self, race: str, outcome: events.Outcome | None) -> events.Record | None:
        """Compare the record of a race with its sighting; raise the alarm if the server withholds it.

        The time of the connection counts, not the time without one.
        """
        connected = ConnectedTime(self._connection)
        try:
            while (record := await self._fetched(race)) is None:
                if connected.seconds >= WITHHELD_AFTER:
                    self._begun.discard(race)
                    self._missing(race)
                    return None
                await asyncio.sleep(ASK_AGAIN_AFTER)
        finally:
            connected.close()
        await self._compare(race, record, outcome)
        return record

    async def check_lost(self, race: str) -> bool:
        """Check the record of a race whose table or seat is gone; return whether it disappeared."""
        try:
            record = await self._asked(race)
        except CommandRefused as refusal:
            # a refusal that lasts, unlike that of a race which runs
            if not refusal.retry:
                self._missing(race)
            return not refusal.retry
        except (RequestTimedOut, UnexpectedAnswer):
            return False
        await self._compare(race, record, None)
        return False

    async def _fetched(self, race: str) -> events.Record | None:
        try:
            return await self._asked(race)
        except NOT_SENT as error:
            LOG.info("the server did not send the record of race %s: %s", race, error)
            return None

    async def _asked(self, race: str) -> events.Record:
        draft = partial(GetRecord, race=race)
        return await self._connection.ask(draft, events.Record, within=WITHHELD_AFTER / 3)

    def _missing(self, race: str) -> None:
        sighting = self._races.load(race)
        has_result = sighting is not None and bool(sighting.digest)
        self._races.raise_alarm(race, (WITHHELD if has_result else GONE,))

    async def _compare(
        self, race: str, record: events.Record, outcome: events.Outcome | None
    ) -> None:
        sighting = self._races.load(race)
        testimony = await asyncio.to_thread(compare_with_record, sighting, record.text)
        if outcome is not None and not testimony.disagreements:
            faults = tuple(_faults_of_outcome(outcome, record.text))
            testimony = replace(testimony, disagreements=faults)
        self.testimonies[race] = testimony
        self._races.settle(race)
        if testimony.disagreements:
            self._races.tell(race, testimony.disagreements)


class ConnectedTime:
    """A stopwatch that runs while the connection is up."""

    def __init__(self, connection: Connection) -> None:
        self._passed = 0.0
        self._since: float | None = None
        self._changed(connection.state)
        self.close = connection.subscribe(self._changed)
        """Stop to follow the connection."""

    @property
    def seconds(self) -> float:
        running = 0.0 if self._since is None else monotonic() - self._since
        return self._passed + running

    def _changed(self, state: LinkState) -> None:
        self._passed = self.seconds
        self._since = monotonic() if state is LinkState.CONNECTED else None


def _faults_of_outcome(outcome: events.Outcome, text: str) -> Iterator[str]:
    """Yield the differences between the announced result and the record."""
    if is_void_record(text):
        yield "the server announced a result, and now says that it voided the race"
        return
    record: RaceRecord = parse_record(text)
    if outcome.seed != record.seed:
        yield "the announced seed is not the one in the record"
    if outcome.nonces != {racer.player: racer.nonce for racer in record.racers}:
        yield "the announced nonces are not those in the record"
    announced = [(row.place, row.player, row.banked, row.net, row.state) for row in outcome.results]
    recorded = [(row.place, row.player, row.banked, row.net, row.state) for row in record.results]
    if announced != recorded:
        yield "the announced result is not the one in the record"
