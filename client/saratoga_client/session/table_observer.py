"""What the events of one table say about its races: saved in sightings, and compared at once where possible.

A commitment counts as promised once the racers were listed for it: until then, an honest server may
change it while this client is away. A race whose racers were listed ends with a result or a void.
"""

from typing import Final

from msgspec.structs import replace

from saratoga_client.net.connection import Connection
from saratoga_client.session.bounded import put_newest
from saratoga_client.session.race_witness import RaceWitness
from saratoga_client.session.record_check import RecordCheck
from saratoga_client.session.table_view import BEFORE_THE_RACE, takes_ready
from saratoga_client.session.witness import NOT_STARTED, Sighting, faults_of_blame
from saratoga_protocol import events
from saratoga_protocol.events import AnyEvent
from saratoga_rules.records.record import CLOSED, NONCE_MISSING

MOST_SPENT: Final = 1000
"""The most commitments of spent deals that are remembered beside the sightings, which say it too."""

DEAL_REUSED: Final = (
    "the table gathers again for a deal whose racers were listed, so that nonces may be known"
)
RACE_REUSED: Final = "the table gathers again under the number of a race whose racers were listed"
COMMITMENT_CHANGED: Final = "the commitment has changed since the countdown"
COUNTDOWN_CHANGED: Final = "the racers or their nonce hashes have changed since the countdown began"
FOREIGN_RESULT: Final = "the table shows a result of another race in the place of its own"
COUNTDOWN_SETTINGS_CHANGED: Final = (
    "the settings, or who is a bot, have changed since the racers were listed"
)
OTHER_PLAYER: Final = (
    "the server's welcome has a player id that does not follow from this player's token"
)


class TableObserver:
    """An observer of one table; it must see every event of the connection, in order."""

    def __init__(self, connection: Connection, races: RaceWitness, records: RecordCheck) -> None:
        self._connection = connection
        self._races = races
        self._records = records
        self._spent: dict[str, None] = {}
        """The last `MOST_SPENT` commitments of deals whose racers were listed."""
        self.table: events.Table | None = None
        """The latest version of the table."""
        self.foreign_ready = ""
        """The commitment for which the last snapshot showed this player ready, if this client has no nonce for it:
        another device with the player's token may have."""
        self.due: set[str] = set()
        """The races whose record is to be checked."""

    def see(self, event: AnyEvent) -> None:
        """Save the facts of an event."""
        if self._is_elsewhere(event):
            return
        match event:
            case events.Snapshot(table=table):
                # it replaces all that was known, also by an older table if the server has lost data
                self.table = None
                self._table_changed(table)
                self._see_own_seat(table)
                if self._connection.welcome.player != self._connection.player:
                    self._races.raise_alarm(table.race, (OTHER_PLAYER,))
                next_id = self._connection.next_id
                self._races.see_standings(table.race, event.standings, next_id, fresh=True)
                if event.board is not None:
                    self._races.see_reconnection(event.board)
                self._see_result(table, event.outcome)
            case events.TableChanged():
                self._table_changed(event.table)
            case events.BoardChanged(board=board, start_at=start_at, deadline=deadline, entries=[]):
                self._races.see_deal(board)
                self._races.see_start(board.race, start_at, deadline)
            case events.Standings(race=race, standings=standings):
                self._races.see_standings(race, standings, self._connection.next_id)
            case events.BoardChanged(re=None):
                self._races.see_ending(event)
            case events.RaceOver(outcome=outcome):
                self._race_over(outcome)
            case _:
                pass

    def _see_own_seat(self, table: events.Table) -> None:
        sighting = self._races.current
        has_nonce = sighting is not None and bool(sighting.nonce)
        own = self._connection.player
        is_ready = any(seat.ready for seat in table.seats if seat.player == own)
        self.foreign_ready = table.commitment if is_ready and not has_nonce else ""

    def is_spent(self, sighting: Sighting) -> bool:
        """Test whether the racers were listed for the deal of a sighting, so that nonces may be known."""
        return sighting.is_spent or sighting.commitment in self._spent

    def _table_changed(self, table: events.Table) -> None:
        known = self.table
        if known is not None and known.code == table.code and known.version > table.version:
            return
        self.table = table
        self._see_voided(table)
        self._see_end_of_races(table, known)
        # the commitment of a closed table is that of a deal which nobody gets
        if table.phase != "closed":
            self._see_table(table)

    def _see_voided(self, table: events.Table) -> None:
        """Save that the server voided the race before; raise the alarm if it blames this player wrongly."""
        ended = table.previous
        sighting = None if ended is None or not ended.reason else self._races.load(ended.race)
        if ended is None or sighting is None or not self._races.is_recent(sighting):
            return
        faults: tuple[str, ...] = ()
        if ended.reason == NONCE_MISSING and sighting.player in ended.blamed:
            sighting = replace(sighting, blamed=True)
            self._races.save(sighting)
            faults = tuple(faults_of_blame(sighting))
        elif ended.reason != CLOSED and sighting.has_started:
            faults = (NOT_STARTED,)
        if faults:
            self._races.raise_alarm(ended.race, faults)
            return
        if sighting.is_promised and not sighting.voided:
            self._races.save(replace(sighting.without_missing(), voided=ended.reason))
            if sighting.deal and not sighting.has_record:
                # only the record shows whether the logs have this player's entries
                self.due.add(ended.race)

    def _see_end_of_races(self, table: events.Table, known: events.Table | None) -> None:
        """Make the records due of the races whose racers were listed before the table's present race."""
        before, is_closed = self._races.current, table.phase == "closed"
        if known is None:
            ended = self._races.unsettled(table.code)
        else:
            ended = [before.race] if before is not None and before.is_unsettled else []
        for race in ended:
            if is_closed or race != table.race or table.phase == "over":
                self.due.add(race)

    def _see_table(self, table: events.Table) -> None:
        """Save the facts of the table; from the countdown on, only its first version counts."""
        seen = self._seen_before(table)
        is_same = seen is not None and seen.commitment == table.commitment
        is_changed = seen is not None and seen.is_promised and not is_same
        is_before = table.phase in BEFORE_THE_RACE
        if seen is None or not (is_same or (is_changed and not is_before)):
            self._races.current = Sighting(
                race=table.race,
                game=table.settings.game,
                commitment=table.commitment,
                player=self._connection.player,
                durability=self._connection.welcome.durability,
                seen_at=self._races.seen_now(table.race),
                alarms=[] if seen is None or seen.is_settled else seen.alarms,
            )
        else:
            self._races.current = seen
        if is_changed:
            fault = RACE_REUSED if is_before else COMMITMENT_CHANGED
            self._races.raise_alarm(table.race, (fault,))
        sighting = self._races.current
        if takes_ready(table):
            self._see_gathering(table, sighting)
            return
        put_newest(self._spent, table.commitment, None, MOST_SPENT)
        if table.phase in ("countdown", "running") and have_settings_changed(table, sighting):
            self._races.raise_alarm(table.race, (COUNTDOWN_SETTINGS_CHANGED,))
        if table.phase == "countdown":
            self._see_countdown(table, sighting)
        elif table.phase == "running":
            self._races.see_start(table.race, table.start_at, table.deadline)
            self._races.see_ranked(table.race, table.ranked)

    def _seen_before(self, table: events.Table) -> Sighting | None:
        """Return the sighting of the table's race; `None` for one of a table that had this code long ago."""
        seen = self._races.load(table.race)
        if seen is None or seen.commitment == table.commitment or self._races.is_recent(seen):
            return seen
        return None

    def _is_elsewhere(self, event: AnyEvent) -> bool:
        """Test whether the server has sent, without a request, an event of another table."""
        is_answer = isinstance(event, events.Snapshot) and bool(event.re)
        if self.table is None or is_answer:
            return False
        match event:
            case events.Snapshot(table=table) | events.TableChanged(table=table):
                return table.code != self.table.code
            case _:
                return False

    def _see_result(self, table: events.Table, outcome: events.Outcome | None) -> None:
        """Save the result in a snapshot; raise the alarm if a table that shows its result has another race's."""
        if outcome is None:
            return
        if table.phase == "over" and outcome.race != table.race:
            self._races.raise_alarm(table.race, (FOREIGN_RESULT,))
        self._race_over(outcome)

    def _race_over(self, outcome: events.Outcome) -> None:
        sighting = self._races.load(outcome.race)
        if sighting is None:
            return
        if sighting.outcome is None:
            self._records.renew(outcome.race)
        self._races.see_outcome(sighting, outcome)
        self.due.add(outcome.race)

    def _see_gathering(self, table: events.Table, sighting: Sighting) -> None:
        if self.is_spent(sighting):
            self._races.raise_alarm(table.race, (DEAL_REUSED,))
            return
        self._races.current = replace(sighting, game=table.settings.game)

    def _see_countdown(self, table: events.Table, sighting: Sighting) -> None:
        if sighting.nonce_hashes:
            if have_racers_changed(table, sighting):
                self._races.raise_alarm(table.race, (COUNTDOWN_CHANGED,))
            return
        self._races.see(
            replace(
                sighting,
                nonce_hashes=_hashes_of_racers(table),
                names={racer.player: [racer.name] for racer in table.racers},
                bots=[racer.player for racer in table.racers if racer.bot],
                cap=table.settings.cap,
                public=table.settings.public,
                seen_at=self._races.seen_now(table.race),
            )
        )


def _hashes_of_racers(table: events.Table) -> dict[str, str]:
    return {racer.player: racer.nonce_hash for racer in table.racers}


def have_racers_changed(table: events.Table, sighting: Sighting) -> bool:
    """Test whether the racers, or their nonce hashes, differ from those first seen for this deal."""
    return _hashes_of_racers(table) != sighting.nonce_hashes


def have_settings_changed(table: events.Table, sighting: Sighting) -> bool:
    """Test whether game, time limit, visibility or bot marks differ from those first seen with the racers."""
    if not sighting.nonce_hashes or sighting.cap is None:
        return False
    now = table.settings.game, table.settings.cap, table.settings.public
    return now != (sighting.game, sighting.cap, sighting.public) or any(
        racer.bot != (racer.player in sighting.bots) for racer in table.racers
    )
