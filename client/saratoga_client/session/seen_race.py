"""What a client sees of a running race: its own entries, and the standings. Compared with the record.

A rival's board is secret while the race runs, so of rivals a client sees counts and states only. Each
of them must follow from the record. Commit numbers order the entries of all boards, so a standing that
was seen before the client sent a move follows from entries with lower numbers than that move's.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from math import inf
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.records.record import LOG_ENDINGS, LogLine, RaceRecord, RacerLog
from saratoga_rules.records.replay import ReplayError, game_of, steps
from saratoga_rules.records.standing import State

MOST_STANDINGS: Final = 4000
"""The most standings kept of one race, so that a hostile server cannot fill the disk."""

MOST_SENTENCES: Final = 3
"""The most contradictions of one kind that are told; the rest is counted."""

_WORD_OF: Final[Mapping[str, str]] = {str(state): word for word, state in LOG_ENDINGS.items()}


class SeenEntry(Struct, frozen=True, array_like=True, tag="entry"):
    """An entry of the player's own log, as the server acknowledged it."""

    place: int
    """The entry's place in the log, from 1."""
    at: int
    """Milliseconds from the start of the race."""
    number: int
    """The commit number."""
    text: str
    """The move as this client sent it, or the log's word for an ending."""
    command: int = 0
    """The id of the client's command; 0 for an ending by the server."""


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


Seen: TypeAlias = SeenEntry | SeenStanding


def entries_of_answer(
    command: MakeMove | CashOut, answer: events.MoveMade
) -> tuple[SeenEntry, ...]:
    """Return the entries that the answer to a command acknowledges."""
    board = answer.board
    if isinstance(command, CashOut):
        return (SeenEntry(board.count, answer.at, answer.number, "cash-out", command.id),)
    place = command.after + 1
    made = SeenEntry(place, answer.at, answer.number, command.move, command.id)
    if answer.repeat or board.state != State.STUCK or board.count != place + 1:
        return (made,)
    word = _WORD_OF[State.STUCK]
    return made, SeenEntry(place + 1, answer.at, answer.number + 1, word, command.id)


def entry_of_ending(ended: events.BoardEnded) -> SeenEntry | None:
    """Return the entry with which the server ended the board; `None` for an unknown state."""
    board = ended.board
    word = _WORD_OF.get(board.state)
    return None if word is None else SeenEntry(board.count, ended.at, ended.number, word)


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


def entry_faults(record: RaceRecord, player: str, seen: Sequence[SeenEntry]) -> Iterator[str]:
    """Yield how the record contradicts the player's own entries."""
    if not seen:
        return
    try:
        log = record.racer(player).log
    except KeyError:
        yield "the record does not have this player, who raced"
        return
    # after a loss of the server's data another entry may have the place: the last one counts
    latest = {entry.place: entry for entry in seen}
    yield from _shortened(_entry_faults(log, latest.values()), "own entries")


def _entry_faults(log: Sequence[LogLine], seen: Iterable[SeenEntry]) -> Iterator[str]:
    for entry in seen:
        made = f"{entry.text} at {entry.at} ms with number {entry.number}"
        if entry.place > len(log):
            yield f"the record lacks this player's entry {entry.place}, {made}"
        elif (line := log[entry.place - 1]) != LogLine(entry.at, entry.number, entry.text):
            found = f"{line.text} at {line.at} ms with number {line.number}"
            yield f"this player's entry {entry.place} was {made}, and in the record is {found}"


class _Point(NamedTuple):
    """A racer's standing after an entry of the log."""

    number: int
    """The commit number of the entry; 0 for the deal."""
    banked: int
    state: str


def standing_faults(
    record: RaceRecord, seen: Sequence[SeenStanding], own: Sequence[SeenEntry]
) -> Iterator[str]:
    """Yield how the record contradicts the standings seen: each racer's must follow each other in the log."""
    try:
        game = game_of(record)
        courses = {racer.player: _course(record, racer) for racer in record.racers}
    except ReplayError:
        return  # verification says so
    yield from _shortened(_standing_faults(game, courses, seen, own), "standings")


def _course(record: RaceRecord, racer: RacerLog) -> list[_Point]:
    course = [_Point(0, record.deal.banked, State.RACING)]
    for line, position in steps(record, racer.player):
        course.append(_Point(line.number, position.banked, State.RACING))
    course[-1] = course[-1]._replace(state=racer.state)
    return course


def _standing_faults(
    game: Game,
    courses: Mapping[str, list[_Point]],
    seen: Sequence[SeenStanding],
    own: Sequence[SeenEntry],
) -> Iterator[str]:
    reached = dict.fromkeys(courses, 0)
    number_after = _numbers_by_command(own)
    for standing in seen:
        player = standing.player
        shown = f"{player} was shown with {standing.banked} banked cards, {standing.state}"
        if player not in courses:
            yield f"{shown}, and is not in the record"
            continue
        if standing.net != net(game, standing.banked):
            yield f"{shown}, and with {standing.net} dollars, which these cards do not pay"
        first = 0 if standing.fresh else reached[player]
        below = number_after(standing.before)
        for place, point in enumerate(courses[player][first:], start=first):
            is_same = (point.banked, point.state) == (standing.banked, standing.state)
            if is_same and point.number < below:
                reached[player] = place
                break
        else:
            yield f"{shown}, and by the record was not at that time"


def _numbers_by_command(own: Sequence[SeenEntry]) -> Callable[[int], float]:
    """Return a function: the lowest commit number of this client's commands from an id on."""
    ordered = sorted((entry.command, entry.number) for entry in own if entry.command)
    commands = [command for command, _ in ordered]
    lowest = [*accumulate((number for _, number in reversed(ordered)), min)][::-1]

    def lowest_from(command: int) -> float:
        place = bisect_left(commands, command)
        return lowest[place] if command and place < len(lowest) else inf

    return lowest_from


def _shortened(faults: Iterator[str], what: str) -> Iterator[str]:
    yield from islice(faults, MOST_SENTENCES)
    if more := sum(1 for _ in faults):
        yield f"and {more} more {what} differ"
