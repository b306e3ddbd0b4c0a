"""A seat at a table, and its duties: nonces drawn and shown in time, and the house watched.

Bots and people share this. It draws the nonce, says *ready* with its hash, shows it when the
countdown has frozen who races, keeps what a witness must keep, and holds the record of every race
against it. Give it every event of the connection, in order.
"""

import logging
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, DealSpent, RequestTimedOut, UnexpectedAnswer
from saratoga_client.session.witness import Sighting, Testimony, Witness, held_against
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord, NotReady, Ready, Reveal
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.views import rules_view
from saratoga_rules.dealing.fairness import NONCE_BYTES, nonce_hash
from saratoga_rules.position import format_position
from saratoga_rules.records.record import RaceRecord, parse_record

LOG: Final = logging.getLogger("saratoga.seat")

Alarm = Callable[[str, tuple[str, ...]], None]
"""Told the race's id and, in sentences, where the house's words do not agree."""

GATHERED_AGAIN: Final = (
    "the table gathers again for a deal whose countdown was seen, and whose nonces are known"
)
COUNTED_AGAIN: Final = "the countdown has other racers or nonce hashes than it had at first"


def _log_alarm(race: str, disagreements: tuple[str, ...]) -> None:
    LOG.error("the house's words on race %s do not agree: %s", race, "; ".join(disagreements))


class FairnessDuties:
    """A player's seat, or a watcher's place, at one table."""

    def __init__(
        self,
        house: Connection,
        witness: Witness | None = None,
        alarm: Alarm = _log_alarm,
    ) -> None:
        self._house = house
        self._witness = witness
        self._alarm = alarm
        self._alarms: set[tuple[str, tuple[str, ...]]] = set()
        self._sighting: Sighting | None = None
        self._revealed = ""
        self._spent: set[str] = set()
        """Commitments that were seen beyond the gathering."""
        self._asked: set[str] = set()
        """Races whose record was asked for: once is enough, but if the house wants time."""
        self.table: events.Table | None = None
        """The latest picture of the table."""
        self.testimonies: dict[str, Testimony] = {}
        """Of every finished race that was held against what was seen, by its id."""
        self.record: events.Record | None = None
        """The last one that was asked for."""

    @property
    def player(self) -> str:
        return self._house.welcome.player

    @property
    def is_ready(self) -> bool:
        """Whether the house knows this player as ready for the coming race."""
        own = self._own_seat()
        return own is not None and own.ready and own.nonce_hash == self._own_hash()

    @property
    def is_host(self) -> bool:
        return self.table is not None and self.table.host == self.player

    async def ready(self) -> None:
        """Draw a nonce for the coming race, and say ready. Raises `CommandRefused`, `DealSpent`."""
        assert self._sighting is not None, "hear a snapshot first"
        if self._is_spent(self._sighting):
            raise DealSpent(f"the nonces for race {self._sighting.race} are known already")
        if not self._sighting.nonce:
            self._see(replace(self._sighting, nonce=secrets.token_hex(NONCE_BYTES)))
        sighting = self._sighting
        await self._house.request(
            partial(
                Ready,
                table=sighting.race.partition("/")[0],
                commitment=sighting.commitment,
                nonce_hash=self._own_hash(),
            )
        )

    async def not_ready(self) -> None:
        """Take the ready mark back. Raises `CommandRefused`."""
        assert self.table is not None, "hear a snapshot first"
        await self._house.request(partial(NotReady, table=self.table.code))

    async def hear(self, event: AnyEvent) -> None:
        """Take in an event, and do what the seat's duty is."""
        match event:
            case events.Snapshot(table=table):
                await self._turn(table)
                if event.outcome is not None:
                    await self._check(event.outcome)
            case events.TableChanged(table=table):
                await self._turn(table)
            case events.Dealt(board=board):
                self._see_deal(board)
            case events.RaceOver(outcome=outcome):
                await self._check(outcome)
            case _:
                pass

    async def _turn(self, table: events.Table) -> None:
        known = self.table
        if known is not None and known.code == table.code and known.version > table.version:
            return
        self.table = table
        self._see_table(table)
        if table.phase == "countdown" and self.player in table.racers:
            await self._reveal(table)

    # Seeing

    def _see_table(self, table: events.Table) -> None:
        """Before the race the latest word counts; from the countdown on, the first."""
        sighting = self._sighting
        if sighting is None or sighting.race != table.race:
            sighting = self._remembered(table)
        is_same = sighting is not None and sighting.commitment == table.commitment
        if sighting is None or (not is_same and table.phase in ("gathering", "countdown")):
            sighting = Sighting(
                race=table.race,
                game=table.settings.game,
                commitment=table.commitment,
                player=self.player,
            )
        elif not is_same:
            self._raise_alarm(table.race, ("the commitment was changed after the countdown",))
        self._sighting = sighting
        if table.phase == "gathering":
            self._see_gathering(table, sighting)
            return
        self._spent.add(table.commitment)
        if table.phase == "countdown":
            self._see_countdown(table, sighting)

    def _see_gathering(self, table: events.Table, sighting: Sighting) -> None:
        if self._is_spent(sighting):
            self._raise_alarm(table.race, (GATHERED_AGAIN,))
        else:
            self._sighting = replace(sighting, game=table.settings.game)

    def _see_countdown(self, table: events.Table, sighting: Sighting) -> None:
        if not sighting.nonce_hashes:
            self._see(replace(sighting, nonce_hashes=_hashes_of_racers(table)))
        elif _is_another_field(table, sighting):
            self._raise_alarm(table.race, (COUNTED_AGAIN,))

    def _is_spent(self, sighting: Sighting) -> bool:
        return sighting.is_spent or sighting.commitment in self._spent

    def _remembered(self, table: events.Table) -> Sighting | None:
        """From an earlier run of the program; of a race in play, never of one announced anew."""
        sighting = None if self._witness is None else self._witness.load(table.race)
        if sighting is not None and sighting.commitment != table.commitment:
            return sighting if table.phase in ("running", "over") else None
        return sighting

    def _see_deal(self, board: events.BoardView) -> None:
        sighting = self._sighting
        if sighting is not None and sighting.race == board.race and not sighting.deal:
            self._see(replace(sighting, deal=format_position(rules_view(board.view))))

    def _see(self, sighting: Sighting) -> None:
        self._sighting = sighting
        if self._witness is not None:
            try:
                self._witness.keep(sighting)
            except OSError as error:
                LOG.warning("what was seen of race %s is not kept: %s", sighting.race, error)

    # Showing the nonce

    async def _reveal(self, table: events.Table) -> None:
        sighting = self._sighting
        if sighting is None or self._revealed == sighting.commitment:
            return
        if faults := tuple(self._faults_of_countdown(table, sighting)):
            self._raise_alarm(table.race, faults)
            return
        self._revealed = sighting.commitment
        try:
            await self._house.request(partial(Reveal, table=table.code, nonce=sighting.nonce))
        except (CommandRefused, RequestTimedOut) as no:
            # Too late, most likely: the countdown is void, and the table says so to everybody.
            LOG.info("the nonce for race %s was not taken: %s", table.race, no)

    def _faults_of_countdown(self, table: events.Table, sighting: Sighting) -> Iterator[str]:
        """Why the nonce must stay a secret."""
        if not sighting.nonce or sighting.commitment != table.commitment:
            yield "the countdown is for a deal that this player has not said ready for"
        elif sighting.nonce_hashes.get(self.player) != self._own_hash():
            yield "the countdown has another nonce hash for this player than was sent"
        if not all(sighting.nonce_hashes.values()):
            yield "the countdown has racers without a nonce hash"
        if _is_another_field(table, sighting):
            yield COUNTED_AGAIN

    def _own_hash(self) -> str:
        sighting = self._sighting
        if sighting is None or not sighting.nonce:
            return ""
        return nonce_hash(bytes.fromhex(sighting.nonce))

    def _own_seat(self) -> events.Seat | None:
        seats = [] if self.table is None else self.table.seats
        return next((seat for seat in seats if seat.player == self.player), None)

    # Checking

    async def _check(self, outcome: events.Outcome) -> None:
        """Hold the record of a finished race against what was seen of it."""
        sighting = self._sighting
        if sighting is None or sighting.race != outcome.race or outcome.race in self._asked:
            return
        if not sighting.digest:
            sighting = replace(sighting, digest=outcome.digest)
            self._see(sighting)
        self._asked.add(outcome.race)
        try:
            record = await self._house.ask(partial(GetRecord, race=outcome.race), events.Record)
        except (CommandRefused, RequestTimedOut, UnexpectedAnswer) as no:
            if isinstance(no, CommandRefused) and no.retry:
                self._asked.discard(outcome.race)
            LOG.warning("the record of race %s could not be had: %s", outcome.race, no)
            return
        self.record = record
        # the table may have gone on to the next race meanwhile
        said = held_against(sighting, record.text)
        if not said.disagreements:
            faults = tuple(_faults_of_outcome(outcome, parse_record(record.text)))
            said = Testimony(said.seen, faults)
        self.testimonies[outcome.race] = said
        if said.disagreements:
            self._raise_alarm(outcome.race, said.disagreements)

    def _raise_alarm(self, race: str, disagreements: tuple[str, ...]) -> None:
        """Loudly, and once."""
        if (race, disagreements) not in self._alarms:
            self._alarms.add((race, disagreements))
            self._alarm(race, disagreements)


def _hashes_of_racers(table: events.Table) -> dict[str, str]:
    hashes = {seat.player: seat.nonce_hash for seat in table.seats}
    return {player: hashes.get(player, "") for player in table.racers}


def _is_another_field(table: events.Table, sighting: Sighting) -> bool:
    """Whether other racers, or other promises of theirs, were seen for this deal.

    The hash of somebody who has left meanwhile cannot be seen any more.
    """
    hashes, seen = _hashes_of_racers(table), sighting.nonce_hashes
    return hashes.keys() != seen.keys() or any(
        now and now != seen[player] for player, now in hashes.items()
    )


def _faults_of_outcome(outcome: events.Outcome, record: RaceRecord) -> Iterator[str]:
    """Where the result that was announced is not the record's."""
    if outcome.seed != record.seed:
        yield "the seed that was announced is not the record's"
    if outcome.nonces != {racer.player: racer.nonce for racer in record.racers}:
        yield "the nonces that were announced are not the record's"
    announced = [(row.place, row.player, row.banked, row.net, row.state) for row in outcome.results]
    recorded = [(row.place, row.player, row.banked, row.net, row.state) for row in record.results]
    if announced != recorded:
        yield "the places that were announced are not the record's"
