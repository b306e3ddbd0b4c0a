"""Fetch the record of a finished race, and compare it with what this machine saw of the race."""

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from saratoga_client.net.connection import Connection, LinkState
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
"""Seconds of connection after which a record that the server has not sent counts as withheld."""

ASK_AGAIN_AFTER: Final = 2.0
"""Seconds between two requests for a record."""

CHECKS_WITHIN: Final = 30.0
"""Seconds for which the end of a session waits for the checks that have begun."""

MOST_CHECKS: Final = 1000
"""The most races whose checks are remembered; only the latest ones of a table are asked about."""

RUNNING: Final = "race_running"
"""The code of the refusal to send the record of a race that runs."""

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
        """Fetch and check the record of a race; raise the alarm if the server withholds it.

        The time of the connection counts, not the time without one.
        """
        connected = ConnectedTime(self._connection)
        try:
            while (record := await self._fetched(race)) is None:
                waited = connected.lap(_longest_round())
                if self._noted(race).is_lost or waited >= WITHHELD_AFTER:
                    self._noted(race).is_begun = False
                    self._missing(race)
                    return None
                await asyncio.sleep(ASK_AGAIN_AFTER)
        finally:
            connected.close()
        return await self.prove(race, record.text)

    async def check_lost(self, race: str, may_run: bool) -> str:
        """Check the record of a race whose table or seat is gone; return the alarm if the server has none.

        A server may refuse the record of a race that `may_run`; it is checked when the player comes again.
        """
        connected = ConnectedTime(self._connection)
        try:
            while (answer := await self._answered(race, may_run)) is None:
                if connected.lap(_longest_round()) >= WITHHELD_AFTER:
                    answer = self._missing(race)
                    break
                await asyncio.sleep(ASK_AGAIN_AFTER)
        finally:
            connected.close()
        if isinstance(answer, events.Record):
            await self.prove(race, answer.text)
            return ""
        return answer

    async def _fetched(self, race: str) -> events.Record | None:
        try:
            return await self._asked(race)
        except NOT_SENT as error:
            LOG.info("the server did not send the record of race %s: %s", race, error)
            return None

    async def _answered(self, race: str, may_run: bool) -> events.Record | str | None:
        """Return the record of a race, or an alarm (empty if it still runs); `None` if there is no final answer."""
        try:
            return await self._asked(race)
        except CommandRefused as refusal:
            if may_run and refusal.code == RUNNING:
                return ""
            return None if refusal.retry else self._missing(race)
        except (RequestTimedOut, UnexpectedAnswer):
            return None

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
        if not proof.ok:
            testimony = replace(testimony, disagreements=proof.faults)
        self._noted(race).testimony = testimony
        self._races.settle(race, "" if proof.void is None else proof.void.reason)
        if not proof.ok:
            self._races.tell(race, proof.faults)
        return CheckedRecord(text, proof)


def _longest_round() -> float:
    """Return the most seconds from one request for a record to the next."""
    return WITHHELD_AFTER / 3 + ASK_AGAIN_AFTER


class ConnectedTime:
    """A stopwatch that runs while the connection is up."""

    def __init__(self, connection: Connection) -> None:
        self._passed = 0.0
        self._at_lap = 0.0
        self._stopped = 0.0
        """Seconds that are left out of the laps."""
        self.is_unbroken = connection.state is LinkState.CONNECTED
        """Whether the connection was up all the time."""
        self._since: float | None = None
        self._changed(connection.state)
        self.close = connection.subscribe(self._changed)
        """Stop to follow the connection."""

    @property
    def seconds(self) -> float:
        running = 0.0 if self._since is None else monotonic() - self._since
        return self._passed + running

    def lap(self, at_most: float) -> float:
        """Return the seconds of all laps; of the one that ends now, count at most `at_most`.

        A longer lap means that this program was stopped, so that it could see no answer.
        """
        now = self.seconds
        self._stopped += max(0.0, now - self._at_lap - at_most)
        self._at_lap = now
        return now - self._stopped

    def _changed(self, state: LinkState) -> None:
        self._passed = self.seconds
        is_connected = state is LinkState.CONNECTED
        self._since = monotonic() if is_connected else None
        self.is_unbroken = self.is_unbroken and is_connected
