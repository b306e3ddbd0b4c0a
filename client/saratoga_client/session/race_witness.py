"""What one client sees of the races at its table: saved as it comes, and compared at once where possible.

Alarms are told once, and saved with the race: `saratoga verify` shows them later.
"""

import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from saratoga_client.session.seen_race import (
    Seen,
    entries_of_answer,
    entry_of_ending,
    faults_of_order,
    standing_of,
)
from saratoga_client.session.witness import Sighting, Witness
from saratoga_protocol import events
from saratoga_protocol.commands import AnyCommand, CashOut, MakeMove
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.views import rules_view
from saratoga_rules.position import format_position

LOG: Final = logging.getLogger("saratoga.seat")

Alarm = Callable[[str, tuple[str, ...]], None]
"""A function that gets a race's id and sentences on how the server contradicted itself."""

TIMES_CHANGED: Final = "the start or the deadline of the running race has changed"
GONE: Final = "the race was dealt, and then disappeared: the server shows neither a result nor that it was voided"
WITHHELD: Final = "the server announced the result, but did not send the record for 30 s"
MISSING: Final = frozenset({GONE, WITHHELD})
"""The alarms about a race without a record; they end when the server sends the record after all."""


class RaceWitness:
    """The sightings of the races at one table, the present race's in memory."""

    def __init__(self, witness: Witness, player: Callable[[], str], alarm: Alarm) -> None:
        """Save sightings in `witness`; call `alarm` once per contradiction."""
        self._witness = witness
        self._player = player
        self._alarm = alarm
        self._told: set[tuple[str, tuple[str, ...]]] = set()
        self.current: Sighting | None = None
        """The sighting of the table's present race."""

    def see(self, sighting: Sighting) -> None:
        """Replace the sighting of the present race, and save it."""
        self.current = sighting
        self.save(sighting)

    def save(self, sighting: Sighting) -> None:
        """Save the sighting of any race."""
        if self._is_current(sighting.race):
            self.current = sighting
        self._written(sighting.race, lambda: self._witness.keep(sighting))

    def load(self, race: str) -> Sighting | None:
        """Return what this player saw of a race, which may be the present one or an earlier one."""
        if self.current is not None and self.current.race == race:
            return self.current
        sighting = self._witness.load(race)
        # the player is another one at another server, which may use the same race id
        return sighting if sighting is not None and sighting.player == self._player() else None

    # The running race

    def see_deal(self, board: events.BoardView) -> None:
        sighting = self.current
        if sighting is not None and sighting.race == board.race and not sighting.deal:
            self.see(replace(sighting, deal=format_position(rules_view(board.view))))

    def see_start(self, race: str, start_at: int, deadline: int) -> None:
        sighting = self.current
        if sighting is None or sighting.race != race or not start_at:
            return
        if not sighting.start_at:
            self.see(replace(sighting, start_at=start_at, deadline=deadline))
        elif (start_at, deadline) != (sighting.start_at, sighting.deadline):
            self.raise_alarm(sighting.race, (TIMES_CHANGED,))

    def see_ranked(self, race: str, ranked: bool) -> None:
        """Save what the table of the running race first says about the leaderboards."""
        sighting = self.current
        if sighting is not None and sighting.race == race and sighting.ranked is None:
            self.see(replace(sighting, ranked=ranked))

    def see_standings(
        self, race: str, standings: list[events.Standing], next_id: int, *, fresh: bool = False
    ) -> None:
        """Save the standings that differ from those before; `next_id` is the id of the next command."""
        sighting = self.current
        if sighting is None or sighting.race != race:
            return
        if faults := tuple(faults_of_order(standings)):
            self.raise_alarm(race, faults)
        last = {seen.player: seen for seen in sighting.standings}
        seen = [standing_of(row, next_id, fresh=fresh) for row in standings]
        self._observe(race, *(each for each in seen if not each.repeats(last.get(each.player))))

    def see_answer(self, command: AnyCommand, answer: AnyEvent) -> None:
        """Save the entries that the answer to a move or a cash-out acknowledges."""
        if isinstance(command, MakeMove | CashOut) and isinstance(answer, events.MoveMade):
            self._observe(answer.board.race, *entries_of_answer(command, answer))

    def see_ending(self, ended: events.BoardEnded) -> None:
        entry = entry_of_ending(ended)
        if entry is not None:
            self._observe(ended.board.race, entry)

    def _observe(self, race: str, *seen: Seen) -> None:
        before = self.current
        if before is None or before.race != race:
            return
        new = [each for each in seen if each not in before.entries]
        after = before.with_seen(*new)
        added: tuple[Seen, ...] = (
            *after.entries[len(before.entries) :],
            *after.standings[len(before.standings) :],
        )
        self.current = after
        self._written(race, lambda: self._witness.add(after, *added))

    # After the race

    def unsettled(self, table: str) -> list[str]:
        """Return the races of a table that were dealt, and of which neither record nor void was seen."""
        seen = {sighting.race: sighting for sighting in self._witness.of_table(table)}
        if self.current is not None and self.current.race.partition("/")[0] == table:
            seen[self.current.race] = self.current
        return [
            race
            for race, sighting in seen.items()
            if sighting.player == self._player() and sighting.is_unsettled
        ]

    def settle(self, race: str) -> None:
        """Save that the record of a race was compared with its sighting."""
        sighting = self.load(race)
        if sighting is not None:
            alarms = [alarm for alarm in sighting.alarms if alarm not in MISSING]
            self.save(replace(sighting, has_record=True, alarms=alarms))

    def raise_alarm(self, race: str, disagreements: tuple[str, ...]) -> None:
        """Tell and save an alarm, but not twice with the same race and sentences."""
        if (race, disagreements) in self._told:
            return
        self.tell(race, disagreements)
        sighting = self.load(race)
        if sighting is not None:
            new = [alarm for alarm in disagreements if alarm not in sighting.alarms]
            self.save(replace(sighting, alarms=[*sighting.alarms, *new]))

    def tell(self, race: str, disagreements: tuple[str, ...]) -> None:
        """Tell that a record contradicts what was seen, but do not save it: the record shows it again."""
        if (race, disagreements) not in self._told:
            self._told.add((race, disagreements))
            self._alarm(race, disagreements)

    def _is_current(self, race: str) -> bool:
        return self.current is not None and self.current.race == race

    def _written(self, race: str, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            LOG.warning("the evidence of race %s could not be saved: %s", race, error)
