"""Fetch the record of a finished race, and compare it with what this machine saw of the race."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, UnexpectedAnswer
from saratoga_client.session.testimony import Testimony, compare_with_record
from saratoga_client.session.witness import Sighting
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord
from saratoga_rules.records.record import RaceRecord, parse_record

LOG: Final = logging.getLogger("saratoga.seat")

Alarm = Callable[[str, tuple[str, ...]], None]
"""A function that gets a race's id and sentences on how the server contradicted itself."""

SightingOf = Callable[[str], Sighting | None]
"""A function that returns what this machine saw of a race, if anything."""


class RecordCheck:
    """The check of the records of one table's races against the sightings of a witness."""

    def __init__(self, connection: Connection, sighting_of: SightingOf, alarm: Alarm) -> None:
        self._connection = connection
        self._sighting_of = sighting_of
        self._alarm = alarm
        self._asked: set[str] = set()
        """Ids of races whose record was requested, except after a temporary refusal."""
        self.testimonies: dict[str, Testimony] = {}
        """The comparison of every finished race with its record, by race id."""
        self.record: events.Record | None = None
        """The latest record that the server sent."""

    async def check(self, outcome: events.Outcome) -> None:
        """Compare the record of a finished race with the sighting of that race, once."""
        race = outcome.race
        if race in self._asked:
            return
        self._asked.add(race)
        try:
            record = await self._connection.ask(partial(GetRecord, race=race), events.Record)
        except (CommandRefused, RequestTimedOut, UnexpectedAnswer) as error:
            if isinstance(error, CommandRefused) and error.retry:
                self._asked.discard(race)
            LOG.warning("the server did not send the record of race %s: %s", race, error)
            return
        self.record = record
        testimony = await asyncio.to_thread(
            compare_with_record, self._sighting_of(race), record.text
        )
        if not testimony.disagreements:
            faults = tuple(_faults_of_outcome(outcome, parse_record(record.text)))
            testimony = replace(testimony, disagreements=faults)
        self.testimonies[race] = testimony
        if testimony.disagreements:
            self._alarm(race, testimony.disagreements)


def _faults_of_outcome(outcome: events.Outcome, record: RaceRecord) -> Iterator[str]:
    """Yield the differences between the announced result and the record."""
    if outcome.seed != record.seed:
        yield "the announced seed is not the one in the record"
    if outcome.nonces != {racer.player: racer.nonce for racer in record.racers}:
        yield "the announced nonces are not those in the record"
    announced = [(row.place, row.player, row.banked, row.net, row.state) for row in outcome.results]
    recorded = [(row.place, row.player, row.banked, row.net, row.state) for row in record.results]
    if announced != recorded:
        yield "the announced result is not the one in the record"
