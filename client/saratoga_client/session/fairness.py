"""A player's part in the fairness protocol of one table; people and bots share the code.

`FairnessDuties` draws the player's nonce, sends `ready` with its hash, reveals the nonce in
the countdown, saves evidence of each race as seen here, and compares the race's record with
it. It must receive every event of the connection, in order.
"""

import logging
import secrets
from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, DealSpent, RequestTimedOut
from saratoga_client.session.race_witness import GONE, Alarm, RaceWitness
from saratoga_client.session.record_check import RecordCheck
from saratoga_client.session.table_view import takes_ready
from saratoga_client.session.testimony import Testimony
from saratoga_client.session.witness import MemoryWitness, Sighting, Witness, faults_of_voided
from saratoga_protocol import events
from saratoga_protocol.commands import NotReady, Ready, Reveal
from saratoga_protocol.events import AnyEvent
from saratoga_rules.dealing.fairness import NONCE_BYTES, nonce_hash

LOG: Final = logging.getLogger("saratoga.seat")

DEAL_REUSED: Final = (
    "the table gathers again for a deal whose racers were listed, so that nonces may be known"
)
RACE_REUSED: Final = "the table gathers again under the number of a race whose racers were listed"
COMMITMENT_CHANGED: Final = "the commitment has changed since the countdown"
COUNTDOWN_CHANGED: Final = "the racers or their nonce hashes have changed since the countdown began"


LOST_WITHIN: Final = 7 * 24 * 60 * 60 * 1000
"""Milliseconds for which a race is missed whose table is gone; later the server may have deleted it."""


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
        self._stop_observing = connection.observe_answers(self._races.see_answer)
        self._revealed: tuple[str, int] | None = None
        """The countdown whose nonce was revealed: commitment and `reveal_by`, which is another if the
        countdown begins again."""
        self._names: dict[str, str] = {}
        """The names shown while the table gathered, by player id."""
        self._spent: set[str] = set()
        """Commitments of deals whose racers were listed."""
        self._voided: dict[str, events.VoidedRace] = {}
        """The voided races that the table lists, by id: they have been compared with their sightings."""
        self.table: events.Table | None = None
        """The latest version of the table."""
        self._records = RecordCheck(connection, self._races)
        self._due: dict[str, events.Outcome | None] = {}
        """The races whose record is to be checked, with the announced outcome if there was one."""

    def close(self) -> None:
        """Stop to observe the answers of the connection, which may be used for another table."""
        self._stop_observing()

    def take_due(self) -> list[str]:
        """Return the races whose record is to be checked now, each once: pass them to `check`."""
        return [race for race in self._due if self._records.begin(race)]

    async def check(self, race: str) -> events.Record | None:
        """Fetch and compare the record of a race; `None` if the server withholds it. May take long."""
        return await self._records.check(race, self._due.pop(race, None))

    async def lost_races(self, table: str) -> list[str]:
        """Check the races of a table that is gone, or whose seat is; return those that disappeared."""
        recent = self._connection.now() - LOST_WITHIN
        seen = [self._races.load(race) for race in self._races.unsettled(table)]
        missed = [each.race for each in seen if each and each.start_at > recent and not each.digest]
        return [race for race in missed if await self._records.check_lost(race)]

    @property
    def _sighting(self) -> Sighting | None:
        return self._races.current

    @property
    def testimonies(self) -> dict[str, Testimony]:
        """The comparison of every finished race with its record, by race id."""
        return self._records.testimonies

    @property
    def player(self) -> str:
        return self._connection.welcome.player

    @property
    def is_ready(self) -> bool:
        """Test whether the table lists this player as ready for the next race."""
        own = self._own_seat()
        return own is not None and own.ready and own.nonce_hash == self._own_hash()

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
        if self._is_spent(self._sighting):
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
        if sighting is not None and sighting.nonce == nonce and not self._is_spent(sighting):
            self._races.see(replace(sighting, nonce=""))

    async def handle(self, event: AnyEvent) -> None:
        """Save the facts of an event; reveal the nonce in the countdown. Then `take_due` has the records to check."""
        match event:
            case events.Snapshot(table=table):
                # it replaces all that was known, also by an older table if the server has lost data
                self.table = None
                await self._table_changed(table)
                next_id = self._connection.next_id
                self._races.see_standings(table.race, event.standings, next_id, fresh=True)
                if event.outcome is not None:
                    self._race_over(event.outcome)
            case events.TableChanged(table=table):
                await self._table_changed(table)
            case events.Dealt(board=board, start_at=start_at, deadline=deadline):
                self._races.see_deal(board)
                self._races.see_start(board.race, start_at, deadline)
            case events.Standings(race=race, standings=standings):
                self._races.see_standings(race, standings, self._connection.next_id)
            case events.BoardEnded():
                self._races.see_ending(event)
            case events.RaceOver(outcome=outcome):
                self._race_over(outcome)
            case _:
                pass

    async def _table_changed(self, table: events.Table) -> None:
        known = self.table
        if known is not None and known.code == table.code and known.version > table.version:
            return
        self.table = table
        self._see_voided(table)
        self._see_end_of_races(table, known)
        self._see_table(table)
        if table.phase == "countdown" and self.player in table.racers:
            await self._reveal(table)

    # Sightings

    def _see_voided(self, table: events.Table) -> None:
        """Compare the races that the server voided with what was seen of them, each once."""
        for voided in table.voided:
            if self._voided.get(voided.race) != voided:
                self._compare_voided(voided)
        self._voided = {voided.race: voided for voided in table.voided}

    def _compare_voided(self, voided: events.VoidedRace) -> None:
        """Raise the alarm if a voided race contradicts the sighting of it; else save that it was voided."""
        sighting = self._races.load(voided.race)
        if faults := tuple(faults_of_voided(voided, sighting)):
            self._races.raise_alarm(voided.race, faults)
        elif sighting is not None and not sighting.voided:
            self._races.save(replace(sighting, voided=voided.reason))

    def _see_table(self, table: events.Table) -> None:
        """Save the facts of the table; from the countdown on, only its first version counts."""
        if table.phase == "closed":
            # Its commitment is that of a deal which nobody gets.
            return
        sighting = self._sighting
        if sighting is None or sighting.race != table.race:
            sighting = self._races.load(table.race)
        seen, is_same = sighting, sighting is not None and sighting.commitment == table.commitment
        is_before = table.phase in ("gathering", "countdown")
        if sighting is None or (not is_same and is_before):
            sighting = Sighting(
                race=table.race,
                game=table.settings.game,
                commitment=table.commitment,
                player=self.player,
                alarms=[] if sighting is None else sighting.alarms,
            )
        self._races.current = sighting
        if seen is not None and not is_same and (seen.is_spent or not is_before):
            fault = RACE_REUSED if is_before else COMMITMENT_CHANGED
            self._races.raise_alarm(table.race, (fault,))
            sighting = self._races.current
        if takes_ready(table):
            self._see_gathering(table, sighting)
            return
        self._spent.add(table.commitment)
        if table.phase == "countdown":
            self._see_countdown(table, sighting)
        elif table.phase == "running":
            self._races.see_start(table.race, table.start_at, table.deadline)
            self._races.see_ranked(table.race, table.ranked)

    def _see_end_of_races(self, table: events.Table, known: events.Table | None) -> None:
        """Make the records due of the races that were dealt before the table's present one."""
        before = self._sighting
        if known is None:
            ended = self._races.unsettled(table.code)
        else:
            ended = [before.race] if before is not None and before.is_unsettled else []
        for race in ended:
            if race != table.race:
                self._due.setdefault(race, None)
        if table.phase != "closed" or before is None or before.race != table.race:
            return
        if before.is_unsettled and not before.digest:
            self._races.raise_alarm(table.race, (GONE,))

    def _race_over(self, outcome: events.Outcome) -> None:
        sighting = self._races.load(outcome.race)
        if sighting is None:
            return
        if not sighting.digest:
            self._races.save(replace(sighting, digest=outcome.digest))
        self._due[outcome.race] = outcome

    def _see_gathering(self, table: events.Table, sighting: Sighting) -> None:
        if self._is_spent(sighting):
            self._races.raise_alarm(table.race, (DEAL_REUSED,))
            return
        self._races.current = replace(sighting, game=table.settings.game)
        self._names = {seat.player: seat.name for seat in table.seats}

    def _see_countdown(self, table: events.Table, sighting: Sighting) -> None:
        if not sighting.nonce_hashes:
            racing = [seat for seat in table.seats if seat.player in table.racers]
            self._races.see(
                replace(
                    sighting,
                    nonce_hashes=_hashes_of_racers(table),
                    # a name that was changed at this moment may be recorded in either form
                    names={
                        seat.player: sorted({self._names.get(seat.player, seat.name), seat.name})
                        for seat in racing
                    },
                    bots=[seat.player for seat in racing if seat.bot],
                    cap=table.settings.cap,
                    public=table.settings.public,
                )
            )
        elif _have_racers_changed(table, sighting):
            self._races.raise_alarm(table.race, (COUNTDOWN_CHANGED,))

    def _is_spent(self, sighting: Sighting) -> bool:
        return sighting.is_spent or sighting.commitment in self._spent

    # Revealing the nonce

    async def _reveal(self, table: events.Table) -> None:
        sighting = self._sighting
        countdown = (table.commitment, table.reveal_by)
        if sighting is None or self._revealed == countdown:
            return
        if faults := tuple(self._faults_of_countdown(table, sighting)):
            self._races.raise_alarm(table.race, faults)
            return
        self._revealed = countdown
        try:
            await self._connection.request(partial(Reveal, table=table.code, nonce=sighting.nonce))
            self._note_revealed(sighting.race)
        except (CommandRefused, RequestTimedOut) as error:
            # Probably too late: the server cancels the countdown and informs all players, or the
            # countdown goes on, and the nonce is revealed again.
            self._revealed = None
            LOG.info("the nonce for race %s was not accepted: %s", table.race, error)

    def _note_revealed(self, race: str) -> None:
        """Save that the server has taken the nonce, so that it cannot deny that later."""
        sighting = self._races.load(race)
        if sighting is not None:
            self._races.save(replace(sighting, revealed=True))

    def _faults_of_countdown(self, table: events.Table, sighting: Sighting) -> Iterator[str]:
        """Yield the reasons why the nonce must not be revealed."""
        if not sighting.nonce or sighting.commitment != table.commitment:
            yield "the countdown is for a deal for which this player has not said ready"
        elif sighting.nonce_hashes.get(self.player) != self._own_hash():
            yield "the countdown has a nonce hash for this player that this player did not send"
        if not all(sighting.nonce_hashes.values()):
            yield "the countdown has racers without a nonce hash"
        if _have_racers_changed(table, sighting):
            yield COUNTDOWN_CHANGED

    def _own_hash(self) -> str:
        sighting = self._sighting
        if sighting is None or not sighting.nonce:
            return ""
        return nonce_hash(bytes.fromhex(sighting.nonce))

    def _own_seat(self) -> events.Seat | None:
        seats = [] if self.table is None else self.table.seats
        return next((seat for seat in seats if seat.player == self.player), None)


def _hashes_of_racers(table: events.Table) -> dict[str, str]:
    hashes = {seat.player: seat.nonce_hash for seat in table.seats}
    return {player: hashes.get(player, "") for player in table.racers}


def _have_racers_changed(table: events.Table, sighting: Sighting) -> bool:
    """Test whether the racers, or their nonce hashes, differ from those first seen for this deal.

    A racer who has left the table has no hash there; that is no difference.
    """
    hashes, seen = _hashes_of_racers(table), sighting.nonce_hashes
    return hashes.keys() != seen.keys() or any(
        now and now != seen[player] for player, now in hashes.items()
    )
