"""A player's part in the fairness protocol of one table; people and bots share the code.

`FairnessDuties` draws the player's nonce, sends `ready` with its hash, reveals the nonce in the countdown,
lets `TableObserver` save evidence of each race, and `RecordCheck` compare the race's record with it. It must see
every event of the connection, in order.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    DealSpent,
    RequestTimedOut,
    ServerClosed,
    Unreachable,
)
from saratoga_client.session.race_witness import Alarm, RaceWitness
from saratoga_client.session.record_check import CheckedRecord, RecordCheck
from saratoga_client.session.table_observer import (
    COUNTDOWN_CHANGED,
    TableObserver,
    have_racers_changed,
)
from saratoga_client.session.table_view import RACE_PHASES
from saratoga_client.session.testimony import Testimony
from saratoga_client.session.witness import MemoryWitness, Sighting, Witness, faults_of_blame
from saratoga_protocol import events
from saratoga_protocol.commands import NotReady, Ready, Reveal
from saratoga_protocol.events import AnyEvent
from saratoga_rules.dealing.fairness import NONCE_BYTES, nonce_hash

LOG: Final = logging.getLogger("saratoga.seat")

CONNECTION_ENDS: Final = (ClientClosed, ServerClosed, Unreachable)
"""The errors that end a connection."""

LOST_CHECKS_WITHIN: Final = 30.0
"""Seconds within which the races of a table that is gone are checked, also without a connection."""


def _log_alarm(race: str, disagreements: tuple[str, ...]) -> None:
    LOG.error("the server contradicts itself on race %s: %s", race, "; ".join(disagreements))


class FairnessDuties:
    """A client's part in fair deals: send nonces, save what was seen, and check race records.

    An instance serves one player or watcher at one table.
    """

    def __init__(
        self,
        connection: Connection,
        witness: Witness | None = None,
        alarm: Alarm = _log_alarm,
    ) -> None:
        """Save sightings in `witness`, by default in memory; call `alarm` once per contradiction."""
        self._connection = connection
        self._races = RaceWitness(witness or MemoryWitness(), lambda: self.player, alarm)
        self._stop_observing: Callable[[], None] | None = None
        self._records = RecordCheck(connection, self._races)
        self._observer = TableObserver(connection, self._races, self._records)
        self._revealed: tuple[str, int] | None = None
        """The countdown whose nonce was revealed: commitment and `reveal_by`, which is another if the
        countdown begins again."""

    def close(self) -> None:
        """Stop to observe the answers of the connection, which may be used for another table."""
        if self._stop_observing is not None:
            self._stop_observing()

    def take_due(self) -> list[str]:
        """Return the races whose record is to be checked now, each once: pass them to `check`."""
        return [race for race in sorted(self._observer.due) if self._records.begin(race)]

    async def check(self, race: str) -> CheckedRecord | None:
        """Fetch and check the record of a race; `None` if the server withholds it. May take long."""
        self._observer.due.discard(race)
        return await self._records.check(race)

    def is_checking(self, race: str = "") -> bool:
        """Return whether the check of a race, by default of any, has begun and not ended."""
        return self._records.is_checking(race)

    async def prove(self, race: str, text: str) -> CheckedRecord:
        """Check the record of a race that was not due, such as one that the player asked for."""
        return await self._records.prove(race, text)

    async def lost_races(self, table: str, *, is_gone: bool) -> list[str]:
        """Check the races at a table whose seat is lost, or that `is_gone`; return the alarms in sentences.

        What cannot be checked in time is checked when the player comes to that table again.
        """
        alarms: list[str] = []

        async def check(race: str) -> None:
            if alarm := await self._records.check_lost(race, self._may_run(race, is_gone)):
                alarms.append(f"Race {race}: {alarm}.")

        with suppress(TimeoutError, *CONNECTION_ENDS):
            async with asyncio.timeout(LOST_CHECKS_WITHIN):
                await asyncio.gather(*map(check, self._races.unsettled(table)))
        return alarms

    def _may_run(self, race: str, is_gone: bool) -> bool:
        """Test whether an honest server may still say that a race runs."""
        table = self.table
        runs = table is None or (table.race == race and table.phase in RACE_PHASES)
        return runs and not is_gone and self._races.may_run(race)

    @property
    def _sighting(self) -> Sighting | None:
        return self._races.current

    @property
    def testimonies(self) -> dict[str, Testimony]:
        """The comparisons of the latest finished races with their records, by race id."""
        return self._records.testimonies

    @property
    def table(self) -> events.Table | None:
        """The latest version of the table."""
        return self._observer.table

    @property
    def player(self) -> str:
        return self._connection.player

    @property
    def is_ready(self) -> bool:
        """Test whether the table lists this player as ready for the next race."""
        own = self._own_seat()
        return own is not None and own.ready and bool(self._own_hash())

    @property
    def is_blocked(self) -> bool:
        """Test whether this player may not get ready until the host allows it."""
        own = self._own_seat()
        return own is not None and own.blocked

    @property
    def is_host(self) -> bool:
        return self.table is not None and self.table.host == self.player

    async def ready(self) -> None:
        """Mark the player ready, with a nonce for this deal; draw another after `_drop_nonce`.

        Raises `DealSpent`, or an error of `Connection.request`.
        """
        assert self._sighting is not None, "no snapshot has been handled yet"
        if self._observer.is_spent(self._sighting):
            raise DealSpent(f"the nonces for race {self._sighting.race} are known already")
        if not self._sighting.nonce:
            self._races.see(replace(self._sighting, nonce=secrets.token_hex(NONCE_BYTES)))
        sighting, own_hash = self._sighting, self._own_hash()
        code = sighting.race.partition("/")[0]
        try:
            await self._connection.request(
                partial(Ready, table=code, commitment=sighting.commitment, nonce_hash=own_hash)
            )
        except CommandRefused as refusal:
            if refusal.code == "wrong_nonce":
                self._drop_nonce(sighting.nonce)
            raise

    async def not_ready(self) -> None:
        """Remove the player's ready mark; raises `CommandRefused`."""
        assert self.table is not None, "no snapshot has been handled yet"
        nonce = "" if self._sighting is None else self._sighting.nonce
        await self._connection.request(partial(NotReady, table=self.table.code))
        self._drop_nonce(nonce)

    def _drop_nonce(self, nonce: str) -> None:
        """Forget a nonce that was taken back or refused, unless its countdown has started meanwhile."""
        sighting = self._sighting
        if (
            sighting is not None
            and sighting.nonce == nonce
            and not self._observer.is_spent(sighting)
        ):
            self._races.see(replace(sighting, nonce=""))

    def see(self, event: AnyEvent) -> None:
        """Save the facts of an event. Then `take_due` has the records to check, and a nonce may be due."""
        if self._stop_observing is None:
            # not before: a session that never enters its table is never closed
            self._stop_observing = self._connection.observe_answers(self._races.see_answer)
        self._observer.see(event)

    async def handle(self, event: AnyEvent) -> None:
        """Save the facts of an event, and reveal the nonce if it is due."""
        self.see(event)
        if self.has_to_reveal:
            await self.reveal()

    # Revealing the nonce

    @property
    def has_to_reveal(self) -> bool:
        """Test whether this player races in the table's countdown and has not revealed the nonce."""
        table = self.table
        return (
            table is not None
            and table.phase == "countdown"
            and table.racer(self.player) is not None
            and self._revealed != (table.commitment, table.reveal_by)
        )

    async def reveal(self) -> None:
        """Reveal the nonce in the countdown, unless the server has changed what it promised."""
        table, sighting = self.table, self._sighting
        if table is None or sighting is None or not self.has_to_reveal:
            return
        if not sighting.nonce and self._is_ready_elsewhere(sighting):
            LOG.warning("another device got ready for race %s, so it has the nonce", table.race)
            return
        if faults := tuple(self._faults_of_countdown(table, sighting)):
            self._races.raise_alarm(table.race, faults)
            return
        self._revealed = table.commitment, table.reveal_by
        states = [self._connection.state]
        unsubscribe = self._connection.subscribe(states.append)
        try:
            await self._connection.request(partial(Reveal, table=table.code, nonce=sighting.nonce))
            self._note_reveal(sighting.race, revealed=True)
        except CommandRefused as refusal:
            # Probably too late: the server cancels the countdown and informs all players, or the
            # countdown goes on, and the nonce is revealed again.
            self._revealed = None
            LOG.info("the nonce for race %s was not accepted: %s", table.race, refusal)
        except RequestTimedOut:
            self._revealed = None
            if set(states) == {LinkState.CONNECTED}:
                self._note_reveal(sighting.race, unanswered=True)
        finally:
            unsubscribe()

    def _note_reveal(self, race: str, **what: bool) -> None:
        """Save what the server did with the nonce; raise the alarm if it has blamed the player already."""
        sighting = self._races.load(race)
        if sighting is None:
            return
        sighting = replace(sighting, **what)
        self._races.save(sighting)
        if sighting.blamed:
            self._races.raise_alarm(race, tuple(faults_of_blame(sighting)))

    def _is_ready_elsewhere(self, sighting: Sighting) -> bool:
        """Test whether the player was ready already, by another device, when this client took the seat."""
        return self._observer.foreign_ready == sighting.commitment

    def _faults_of_countdown(self, table: events.Table, sighting: Sighting) -> Iterator[str]:
        """Yield the reasons why the nonce must not be revealed."""
        if not sighting.nonce or sighting.commitment != table.commitment:
            yield "the countdown is for a deal for which this player has not said ready"
        elif sighting.nonce_hashes.get(self.player) != self._own_hash():
            yield "the countdown has a nonce hash for this player that this player did not send"
        if not all(sighting.nonce_hashes.values()):
            yield "the countdown has racers without a nonce hash"
        if have_racers_changed(table, sighting):
            yield COUNTDOWN_CHANGED

    def _own_hash(self) -> str:
        sighting = self._sighting
        if sighting is None or not sighting.nonce:
            return ""
        return nonce_hash(bytes.fromhex(sighting.nonce))

    def _own_seat(self) -> events.Seat | None:
        seats = [] if self.table is None else self.table.seats
        return next((seat for seat in seats if seat.player == self.player), None)
