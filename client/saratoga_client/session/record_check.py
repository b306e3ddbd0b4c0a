"""Fetch the record of a finished race, and compare it with what this machine saw of the race."""

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, UnexpectedAnswer
from saratoga_client.session.bounded import put_newest
from saratoga_client.session.race_witness import RaceWitness
from saratoga_client.session.testimony import Testimony
from saratoga_client.session.witness import GONE, VOID_WITHHELD, WITHHELD
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord

if TYPE_CHECKING:
    from saratoga_client.session.verification import Proof

LOG: Final = logging.getLogger("saratoga.seat")

WITHHELD_AFTER: Final = 30.0
"""Seconds of answers without a record after which the record counts as withheld."""

ASK_AGAIN_AFTER: Final = 2.0
"""Seconds between two requests for a record."""

CHECKS_WITHIN: Final = 30.0
"""Seconds for which the end of a session waits for the checks that have begun."""

MOST_CHECKS: Final = 1000
"""The most races whose checks are remembered; only the latest ones of a table are asked about."""

RUNNING: Final = "race_running"
"""The code of the refusal to send the record of a race that runs."""

DENIALS: Final = frozenset({RUNNING, "no_such_race", "no_such_table", "table_closed"})
"""The codes of the refusals that say that there is no record."""

NOT_SENT: Final = (CommandRefused, RequestTimedOut, UnexpectedAnswer)


def not_sent(race: str) -> str:
    """Return the verdict on a race whose record the server did not send."""
    return f"NOT VERIFIED: the server did not send the record of {race}."


class CheckedRecord(NamedTuple):
    """The record of a finished race, with its verification."""

    text: str
    proof: "Proof"


@dataclass(slots=True)
class _Check:
    """How far the check of one race's record has come."""

    is_begun: bool = False
    """True after the record was requested, until it turns out to be withheld."""
    has_record: bool = False
    """True after the record has come."""
    is_lost: bool = False
    """True after the server has said for good that it has no record."""
    testimony: Testimony | None = None

    @property
    def is_unfinished(self) -> bool:
        return self.is_begun and self.testimony is None


class RecordCheck:
    """The check of the records of one table's races against their sightings."""

    def __init__(self, connection: Connection, races: RaceWitness) -> None:
        self._connection = connection
        self._races = races
        self._checks: dict[str, _Check] = {}
        """The last `MOST_CHECKS` checks, by race id."""

    @property
    def testimonies(self) -> dict[str, Testimony]:
        """The comparisons of finished races with their records, of the last `MOST_CHECKS` races, by race id.

        The faults of a record that is not verified are disagreements too.
        """
        checks = self._checks.items()
        return {race: each.testimony for race, each in checks if each.testimony is not None}

    def begin(self, race: str) -> bool:
        """Mark the check of a race as begun; return whether it was not begun before."""
        check = self._noted(race)
        is_new = not check.is_begun
        check.is_begun = True
        return is_new

    def is_checking(self, race: str = "") -> bool:
        """Return whether the check of a race, by default of any, has begun and not ended."""
        checks = self._checks.items()
        return any(each.is_unfinished for noted, each in checks if race in ("", noted))

    def renew(self, race: str) -> None:
        """Let the check of a race begin again, because more of it was seen, unless the record is still to come."""
        check = self._checks.get(race)
        if check is not None and check.has_record:
            check.is_begun = False

    def _noted(self, race: str) -> "_Check":
        """Return the check of a race, as the newest one."""
        check = self._checks.get(race, _Check())
        put_newest(self._checks, race, check, MOST_CHECKS)
        return check

    async def check(self, race: str) -> CheckedRecord | None:
        """Fetch and check the record of a race; `None` if it does not come.

        The alarm is raised only if the server answers all the time that there is no record: other refusals, and
        no answer, are an outage.
        """
        denied = failed = 0
        self._noted(race).is_lost = False
        while max(denied, failed) < _most_requests() and not self._noted(race).is_lost:
            try:
                return await self.prove(race, (await self._asked(race)).text)
            except NOT_SENT as error:
                LOG.info("the server did not send the record of race %s: %s", race, error)
                is_denied = isinstance(error, CommandRefused) and error.code in DENIALS
                denied, failed = denied + is_denied, failed + (not is_denied)
            await asyncio.sleep(ASK_AGAIN_AFTER)
        self._noted(race).is_begun = False
        if denied >= failed:
            self._missing(race)
        return None

    async def check_lost(self, race: str, may_run: bool) -> str:
        """Check the record of a race whose table or seat is gone; return the alarm if the server has none.

        A server may refuse the record of a race that `may_run`; it is checked when the player comes again.
        Waits for ever if the server neither sends the record nor says that there is none.
        """
        denied = 0
        while denied < _most_requests():
            try:
                await self.prove(race, (await self._asked(race)).text)
                return ""
            except CommandRefused as refusal:
                if may_run and refusal.code == RUNNING:
                    return ""
                if refusal.code in DENIALS:
                    denied += 1 if refusal.retry else _most_requests()
            except (RequestTimedOut, UnexpectedAnswer) as error:
                LOG.info("the server did not send the record of race %s: %s", race, error)
            await asyncio.sleep(ASK_AGAIN_AFTER)
        return self._missing(race)

    async def _asked(self, race: str) -> events.Record:
        draft = partial(GetRecord, race=race)
        return await self._connection.ask(draft, events.Record, within=WITHHELD_AFTER / 3)

    def _missing(self, race: str) -> str:
        """Raise the alarm that the server has no record of a race; return it."""
        self._noted(race).is_lost = True
        sighting = self._races.load(race)
        alarm = GONE
        if sighting is not None and (sighting.voided or sighting.digest):
            alarm = VOID_WITHHELD if sighting.voided else WITHHELD
        self._races.raise_alarm(race, (alarm,))
        return alarm

    async def prove(self, race: str, text: str) -> CheckedRecord:
        """Verify a record and compare it with what was seen; raise the alarm if anything is wrong."""
        # Imported only after a race, so that the program starts faster.
        from saratoga_client.session.verification import prove

        self._noted(race).has_record = True
        proof = await asyncio.to_thread(
            prove, text.encode("ascii", "replace"), race, witness=self._races
        )
        testimony = proof.testimony
        if proof.is_contradicted:
            testimony = replace(testimony, disagreements=proof.faults)
        self._noted(race).testimony = testimony
        self._races.settle(race, "" if proof.record is None else proof.record.voided)
        if proof.is_contradicted:
            self._races.tell(race, proof.faults)
        return CheckedRecord(text, proof)


def _most_requests() -> int:
    """Return how many answers without a record, or requests without an answer, are enough."""
    return ceil(WITHHELD_AFTER / ASK_AGAIN_AFTER)
