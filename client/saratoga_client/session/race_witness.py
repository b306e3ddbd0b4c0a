"""What one client sees of the races at its table: saved as it comes, and compared at once where possible.

Alarms are told once, and saved with the race: `saratoga verify` shows them later.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from saratoga_client.session.announced_result import faults_of_repeat
from saratoga_client.session.bounded import put_newest
from saratoga_client.session.seen_board import (
    SeenLoss,
    seen_after_reconnection,
    seen_at_end,
    seen_board,
    seen_in_answer,
)
from saratoga_client.session.seen_standings import faults_of_order, standing_of
from saratoga_client.session.witness import Seen, Sighting, Witness
from saratoga_protocol import events
from saratoga_protocol.commands import AnyCommand, CashOut, MakeMove
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.views import rules_view
from saratoga_rules.position import format_position

LOG: Final = logging.getLogger("saratoga.seat")

Alarm = Callable[[str, tuple[str, ...]], None]
"""A function that gets a race's id and sentences on how the server contradicted itself."""

TIMES_CHANGED: Final = "the start or the deadline of the running race has changed"

START_HIDDEN: Final = "the race runs, and the server does not say when it started"

STANDINGS_PARTIAL: Final = "the standings of the race do not list exactly its racers"

MISSED_FOR: Final = 7 * 24 * 60 * 60 * 1000
"""Milliseconds, by this machine's clock, for which a race is missed. Much later the server may have deleted the
record, and may use the race's id again."""

MOST_ALARMS: Final = 100
"""The most alarms that are told about the races at a table, and saved with one race: the server chooses how many
there are."""

MOST_SEEN_RACES: Final = 1000
"""The most races of one table whose times are remembered."""

TOO_MANY: Final = "the server contradicts itself all the time; further contradictions are not told"

LONGEST_DELAY: Final = 5 * 60 * 1000
"""Milliseconds from the listing of the racers, besides the time limit, for which a race may run."""


def local_now() -> int:
    """Return this machine's time in milliseconds since 1970; unlike the server's, no server can change it."""
    return time.time_ns() // 1_000_000


class RaceWitness:
    """The sightings of the races at one table, the present race's in memory."""

    def __init__(self, witness: Witness, player: Callable[[], str], alarm: Alarm) -> None:
        """Save sightings in `witness`; call `alarm` once per contradiction."""
        self._witness = witness
        self._player = player
        self._alarm = alarm
        self._told: set[tuple[str, str]] = set()
        self._seen: dict[str, float] = {}
        """When this program saw a race, as `seen_at` says it, but in seconds of the monotonic clock; by race id.

        It has the last `MOST_SEEN_RACES` races. For others the machine's clock alone counts."""
        self.current: Sighting | None = None
        """The sighting of the table's present race."""

    def seen_now(self, race: str) -> int:
        """Note that a race is seen now, and return the time for `Sighting.seen_at`."""
        put_newest(self._seen, race, time.monotonic(), MOST_SEEN_RACES)
        return local_now()

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
        # the player is another one at another server, which may use the same race id
        return self._witness.load(race, self._player())

    # The running race

    def see_deal(self, board: events.BoardView) -> None:
        sighting = self.current
        if sighting is not None and sighting.race == board.race and not sighting.deal:
            self.see(replace(sighting, deal=format_position(rules_view(board.view))))
        self._observe(board.race, seen_board(board))

    def see_start(self, race: str, start_at: int, deadline: int) -> None:
        sighting = self.current
        if sighting is None or sighting.race != race:
            return
        if not start_at:
            self.raise_alarm(sighting.race, (START_HIDDEN,))
        elif not sighting.start_at:
            self.see(replace(sighting, start_at=start_at, deadline=deadline))
        elif (start_at, deadline) != (sighting.start_at, sighting.deadline):
            self.raise_alarm(sighting.race, (TIMES_CHANGED,))
        elif sighting.outcome is not None and sighting.may_lose:
            # the server has lost the end of the race, which is going to end again
            self.see(replace(sighting, outcome=None, lost_outcome=sighting.outcome))

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
        shown = {row.player for row in standings}
        if shown and sighting.nonce_hashes and shown != sighting.nonce_hashes.keys():
            self.raise_alarm(race, (STANDINGS_PARTIAL,))
        last = {seen.player: seen for seen in sighting.standings}
        seen = [standing_of(row, next_id, fresh=fresh) for row in standings]
        self._observe(race, *(each for each in seen if not each.repeats(last.get(each.player))))

    def see_answer(self, command: AnyCommand, answer: AnyEvent) -> None:
        """Save what the answer to a move or a cash-out acknowledges, and the board that comes with it."""
        if not isinstance(command, MakeMove | CashOut):
            return
        if isinstance(answer, events.BoardChanged):
            self._observe(command.race, *seen_in_answer(command, answer))
        elif isinstance(answer, events.Refused) and answer.board is not None:
            self._observe(command.race, seen_board(answer.board))

    def see_ending(self, ended: events.BoardChanged) -> None:
        self._observe(ended.board.race, *seen_at_end(ended))

    def see_reconnection(self, board: events.BoardView) -> None:
        """Save the board of a snapshot, and whether the server has lost entries that it had acknowledged."""
        sighting = self.load(board.race)
        if sighting is not None:
            self._observe(board.race, *seen_after_reconnection(sighting.own, board))

    def _observe(self, race: str, *seen: Seen) -> None:
        before = self.load(race)
        if before is None:
            return
        new = [each for each in seen if isinstance(each, SeenLoss) or each not in before.own]
        after = before.with_seen(*new)
        added: tuple[Seen, ...] = (
            *after.own[len(before.own) :],
            *after.standings[len(before.standings) :],
        )
        if self._is_current(race):
            self.current = after
        self._written(race, lambda: self._witness.add(after, *added))

    # After the race

    def see_outcome(self, sighting: Sighting, outcome: events.Outcome) -> None:
        """Save the announced result of a race; compare a later announcement with the first."""
        if sighting.outcome is None:
            self.save(replace(sighting, outcome=outcome))
        elif sighting.may_lose and sighting.outcome != outcome:
            # the server has lost the end of the race, which has ended again unseen
            self.save(replace(sighting, outcome=outcome, lost_outcome=sighting.outcome))
        elif faults := tuple(faults_of_repeat(sighting.outcome, outcome)):
            self.raise_alarm(outcome.race, faults)

    def unsettled(self, table: str) -> list[str]:
        """Return the recent races of a table whose racers were listed, without a record or a void."""
        seen = {sighting.race: sighting for sighting in self._witness.of_table(table)}
        if self.current is not None and self.current.race.partition("/")[0] == table:
            seen[self.current.race] = self.current
        return [
            race
            for race, sighting in seen.items()
            if sighting.player == self._player()
            and sighting.is_unsettled
            and self.is_recent(sighting)
        ]

    def is_recent(self, sighting: Sighting) -> bool:
        """Test whether the server must still know the race of a sighting."""
        return local_now() - sighting.seen_at < MISSED_FOR

    def may_run(self, race: str) -> bool:
        """Test whether the time limit of a race allows that it still runs."""
        sighting = self.load(race)
        if sighting is None or not sighting.cap:
            return True
        age = local_now() - sighting.seen_at
        if race in self._seen:  # this machine's clock may have been set forward since
            age = min(age, int((time.monotonic() - self._seen[race]) * 1000))
        return age < sighting.cap * 60_000 + LONGEST_DELAY

    def settle(self, race: str, voided: str) -> None:
        """Save that the record of a race was compared with its sighting, and the reason if it is voided."""
        sighting = self.load(race)
        if sighting is not None:
            settled = replace(sighting.without_missing(), has_record=True)
            self.save(replace(settled, voided=sighting.voided or voided))

    def raise_alarm(self, race: str, disagreements: tuple[str, ...]) -> None:
        """Tell and save an alarm, but not twice with the same race and sentence, and no more than `MOST_ALARMS`."""
        self.tell(race, disagreements)
        sighting = self.load(race)
        if sighting is not None:
            new = [alarm for alarm in disagreements if alarm not in sighting.alarms]
            if new:
                self.save(replace(sighting, alarms=[*sighting.alarms, *new][:MOST_ALARMS]))

    def tell(self, race: str, disagreements: tuple[str, ...]) -> None:
        """Tell that a record contradicts what was seen, but do not save it: the record shows it again."""
        room = MOST_ALARMS - len(self._told)
        if room < 0:
            return
        fresh = tuple(each for each in disagreements if (race, each) not in self._told)
        if len(fresh) > room:
            fresh = (*fresh[:room], TOO_MANY)
        if fresh:
            self._told.update((race, each) for each in fresh)
            self._alarm(race, fresh)

    def _is_current(self, race: str) -> bool:
        return self.current is not None and self.current.race == race

    def _written(self, race: str, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            LOG.warning("the evidence of race %s could not be saved: %s", race, error)
