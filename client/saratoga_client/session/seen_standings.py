"""The standings that a client sees of a running race. Compared with the record.

A rival's board is secret while the race runs, so of rivals a client sees counts and states only. Each
of them must follow from the record. Commit numbers order the entries of all boards, so a standing that
was seen before the client sent a move follows from entries with lower numbers than that move's.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf
from typing import Final, NamedTuple

from msgspec import Struct

from saratoga_client.session.seen_board import Compared, SeenEntry, shortened
from saratoga_protocol import events
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.records.record import RaceRecord, RacerLog
from saratoga_rules.records.replay import ReplayError, game_of, steps
from saratoga_rules.records.standing import State

MOST_STANDINGS: Final = 4000
"""The most standings kept of one race, so that a hostile server cannot fill the disk."""


class SeenStanding(Struct, frozen=True, array_like=True, tag="standing"):
    """A racer's standing, as the server sent it."""

    player: str
    banked: int
    net: int
    state: str
    before: int = 0
    """The smallest id of the commands that this client sent after it saw the standing."""
    fresh: bool = False
    """True for the first standings of a connection: another node may know less than the one before."""

    def repeats(self, other: "SeenStanding | None") -> bool:
        """Test whether another standing of the racer shows the same."""
        return other is not None and (self.banked, self.net, self.state) == (
            other.banked,
            other.net,
            other.state,
        )


def standing_of(row: events.Standing, next_id: int, *, fresh: bool) -> SeenStanding:
    """Return a standing as it was seen; `next_id` is the id of this client's next command."""
    return SeenStanding(row.player, row.banked, row.net, row.state, next_id, fresh)


def faults_of_order(standings: Sequence[events.Standing]) -> Iterator[str]:
    """Yield how the places of standings contradict their counts."""
    rows = sorted(standings, key=lambda row: row.place)
    for ahead, row in pairwise(rows):
        is_level = ahead.place == row.place
        if ahead.banked < row.banked or (is_level and ahead.banked != row.banked):
            yield (
                f"the standings had {ahead.player} with {ahead.banked} banked cards not behind "
                f"{row.player} with {row.banked}"
            )


class _Point(NamedTuple):
    """A racer's standing after an entry of the log."""

    number: int
    """The commit number of the entry; 0 for the deal."""
    banked: int
    state: str


def compare_standings(
    record: RaceRecord,
    seen: Sequence[SeenStanding],
    own: Sequence[SeenEntry],
    *,
    may_lose: bool = False,
) -> Compared:
    """Compare a record with the standings seen: each racer's must follow each other in the log.

    `own` are the client's own entries. With `may_lose` the server may have lost moves, and then a standing may
    be missing that a later one took back.
    """
    try:
        game = game_of(record)
        courses = {racer.player: _course(record, racer) for racer in record.racers}
    except ReplayError:
        return Compared()  # verification says so
    taken_back = _taken_back(seen) if may_lose else frozenset()
    faults, lost = [], 0
    for place, fault in _standing_faults(game, courses, seen, own, taken_back):
        if place in taken_back:
            lost += 1
        else:
            faults.append(fault)
    return Compared(tuple(shortened(iter(faults), "standings")), lost)


def _taken_back(seen: Sequence[SeenStanding]) -> frozenset[int]:
    """Return the places of the standings that a later one of the racer took back.

    A later standing takes one back if it has fewer cards, or if it is racing and that one had ended.
    """
    found: set[int] = set()
    lowest: dict[str, int] = {}
    racing: set[str] = set()
    for place in reversed(range(len(seen))):
        each, player = seen[place], seen[place].player
        has_ended = each.state != State.RACING
        if each.banked > lowest.get(player, each.banked) or (has_ended and player in racing):
            found.add(place)
        lowest[player] = min(each.banked, lowest.get(player, each.banked))
        if not has_ended:
            racing.add(player)
    return frozenset(found)


def _course(record: RaceRecord, racer: RacerLog) -> list[_Point]:
    course = [_Point(0, record.opening.banked, State.RACING)]
    for line, position in steps(record, racer.player):
        course.append(_Point(line.number, position.banked, State.RACING))
    state = next((row.state for row in record.results if row.player == racer.player), "")
    course[-1] = course[-1]._replace(state=state)
    return course


def _standing_faults(
    game: Game,
    courses: Mapping[str, list[_Point]],
    seen: Sequence[SeenStanding],
    own: Sequence[SeenEntry],
    taken_back: frozenset[int],
) -> Iterator[tuple[int, str]]:
    """Yield each contradiction with the place of its standing in `seen`."""
    reached = dict.fromkeys(courses, 0)
    number_after = _numbers_by_command(own)
    for place, standing in enumerate(seen):
        player = standing.player
        shown = f"{player} was shown with {standing.banked} banked cards, {standing.state}"
        if player not in courses:
            yield -1, f"{shown}, and is not in the record"
            continue
        if standing.net != net(game, standing.banked):
            yield -1, f"{shown}, and with {standing.net} dollars, which these cards do not pay"
        first = 0 if standing.fresh else reached[player]
        below = number_after(standing.before)
        for step, point in enumerate(courses[player][first:], start=first):
            is_same = (point.banked, point.state) == (standing.banked, standing.state)
            if is_same and point.number < below:
                if place not in taken_back:
                    reached[player] = step
                break
        else:
            yield place, f"{shown}, and by the record was not at that time"


def _numbers_by_command(own: Sequence[SeenEntry]) -> Callable[[int], float]:
    """Return a function: the lowest commit number of this client's commands from an id on."""
    ordered = sorted((entry.command, entry.number) for entry in own if entry.command)
    commands = [command for command, _ in ordered]
    lowest = [*accumulate((number for _, number in reversed(ordered)), min)][::-1]

    def lowest_from(command: int) -> float:
        place = bisect_left(commands, command)
        return lowest[place] if command and place < len(lowest) else inf

    return lowest_from
