"""What a client sees of its own board while a race runs: entries and boards. Compared with the record.

The server acknowledges each entry with its time and commit number, and shows the board after it. A board
also comes with the deal, with a refusal, with the end of the board and after a reconnection. Of each board
a short hash is kept, to be compared with the board that follows from the record.

A server may say that it has lost moves that it had acknowledged, by a board with fewer entries after a
reconnection. At the durability `fast` that can happen to an honest server, else it is a contradiction.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.views import wire_view
from saratoga_rules.money import net
from saratoga_rules.play import is_won
from saratoga_rules.position import Position, redact
from saratoga_rules.records.record import MOST_ENTRIES, LogLine, RaceRecord
from saratoga_rules.records.replay import ReplayError, game_of, steps_from
from saratoga_rules.records.standing import LOG_ENDINGS, State

MOST_SEEN: Final = 4 * (MOST_ENTRIES + 1)
"""The most entries and boards kept of one race, so that a hostile server cannot fill the disk."""

MOST_SENTENCES: Final = 3
"""The most contradictions of one kind that are told; the rest is counted."""

TOO_MUCH: Final = "the server showed more of this player's board than a race can have"

_HASH_DIGITS: Final = 24


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


class SeenBoard(Struct, frozen=True, array_like=True, tag="board"):
    """A board that the server showed."""

    place: int
    """The number of entries after which it is the board."""
    hash: str
    """The hash of all that the player is shown of it (`board_hash`)."""


class SeenLoss(Struct, frozen=True, array_like=True, tag="loss"):
    """A board after a reconnection that has fewer entries than the server had acknowledged."""

    place: int
    """The number of entries that the server still had."""


SeenOfBoard: TypeAlias = SeenEntry | SeenBoard | SeenLoss


def board_hash(board: events.BoardView) -> str:
    """Return a hash of a board as its player is shown it, without the list of legal moves."""
    return _hash(board.race, board.view, board.banked, board.net, board.state)


def _hash(race: str, view: events.View, banked: int, dollars: int, state: str) -> str:
    text = msgspec.json.encode((race, view, banked, dollars, str(state)))
    return hashlib.sha256(text).hexdigest()[:_HASH_DIGITS]


def seen_board(board: events.BoardView) -> SeenBoard:
    return SeenBoard(board.count, board_hash(board))


def seen_in_answer(
    command: MakeMove | CashOut, answer: events.BoardChanged
) -> tuple[SeenEntry | SeenBoard, ...]:
    """Return the entries that the answer to a command acknowledges, and its board."""
    sent = command.move if isinstance(command, MakeMove) else "cash-out"
    # an answer without its entry acknowledges one that no record has
    own, *others = _entries(answer, command.id) or [SeenEntry(0, -1, -1, sent, command.id)]
    return replace(own, text=sent), *others, seen_board(answer.board)


def seen_at_end(ended: events.BoardChanged) -> tuple[SeenEntry | SeenBoard, ...]:
    """Return the entry with which the server ended the board, and the board."""
    return *_entries(ended), seen_board(ended.board)


def _entries(event: events.BoardChanged, command_id: int = 0) -> list[SeenEntry]:
    seen = []
    for place, line in enumerate(event.entries, event.place):
        at, number, text = (*line.split(" ", 2), "", "")[:3]
        seen.append(SeenEntry(place, _number(at), _number(number), text, command_id))
    return seen


def _number(text: str) -> int:
    """Return the number, or -1 if it is none: no record has that."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1


def seen_after_reconnection(
    before: Sequence[SeenOfBoard], board: events.BoardView
) -> tuple[SeenBoard | SeenLoss, ...]:
    """Return the board of a snapshot, after a loss if the server had acknowledged more entries."""
    shown = seen_board(board)
    return (SeenLoss(board.count), shown) if board.count < _reached(before) else (shown,)


def _reached(seen: Sequence[SeenOfBoard]) -> int:
    """Return the number of entries that the server acknowledged and has not said to have lost."""
    latest = (each.place for each in reversed(seen) if not isinstance(each, SeenBoard))
    return next(latest, 0)


class Compared(NamedTuple):
    """The comparison of what was seen with a record."""

    faults: tuple[str, ...] = ()
    """Sentences on how the record contradicts it."""
    lost: int = 0
    """How much of it the record lacks, and the server said that it had lost."""


def compare_board(
    record: RaceRecord,
    player: str,
    seen: Sequence[SeenOfBoard],
    *,
    may_lose: bool = False,
) -> Compared:
    """Compare a record with what its player saw of the board, in the order in which it was seen.

    A log of a voided race is compared only if the record says that it is complete. With `may_lose`, entries and boards are lost, and no contradiction, if the server said so after it showed them.
    """
    if not seen:
        return Compared()
    racer = next((racer for racer in record.racers if racer.player == player), None)
    if racer is None:
        return Compared(("the record does not have this player, who raced",))
    if racer.damaged:
        return Compared()
    expected = _Expected(record, racer.log)
    entries: list[str] = []
    boards: list[str] = []
    lost, kept = 0, inf
    for each in reversed(seen):
        if isinstance(each, SeenLoss):
            kept = min(kept, each.place)
            continue
        fault = expected.fault_of(each)
        if not fault:
            continue
        if may_lose and each.place > kept:
            lost += isinstance(each, SeenEntry)
        else:
            (entries if isinstance(each, SeenEntry) else boards).append(fault)
    too_much = (TOO_MUCH,) if len(seen) >= MOST_SEEN else ()
    told = (
        *shortened(reversed(entries), "own entries"),
        *shortened(reversed(boards), "boards"),
        *too_much,
    )
    return Compared(told, lost)


class _Expected:
    """What a player must have seen of a board, by a record."""

    def __init__(self, record: RaceRecord, log: Sequence[LogLine]) -> None:
        self._record = record
        self._log = log
        self._positions = _positions(record, log)

    def fault_of(self, seen: SeenEntry | SeenBoard) -> str:
        """Return how the record contradicts an entry or a board; an empty text if it does not."""
        log = self._log
        if isinstance(seen, SeenBoard):
            if seen.place > len(log):
                return f"this player was shown a board after {seen.place} entries, and the record has {len(log)}"
            if self._positions and seen.hash != self._hash_after(self._positions, seen.place):
                return f"the board that this player was shown after entry {seen.place} is not that of the record"
            return ""
        made = f"{seen.text} at {seen.at} ms with number {seen.number}"
        if seen.place > len(log):
            return f"the record lacks this player's entry {seen.place}, {made}"
        line = log[seen.place - 1]
        if line != LogLine(seen.at, seen.number, seen.text):
            found = f"{line.text} at {line.at} ms with number {line.number}"
            return f"this player's entry {seen.place} was {made}, and in the record is {found}"
        return ""

    def _hash_after(self, positions: Sequence[Position], place: int) -> str:
        position, game = positions[place], game_of(self._record)
        state = State.RACING
        if place == len(self._log):
            ending = self._log[-1].text if self._log else ""
            state = (
                State(ending)
                if ending in LOG_ENDINGS
                else State.WON
                if is_won(game, position)
                else state
            )
        view = wire_view(redact(position))
        return _hash(self._record.race_id, view, position.banked, net(game, position.banked), state)


def _positions(record: RaceRecord, log: Sequence[LogLine]) -> list[Position]:
    """Return the deal and the position after every entry of a log; empty if they cannot be computed."""
    try:
        if record.deal is None:
            return []
        return [
            record.deal,
            *(step.position for step in steps_from(game_of(record), record.deal, log)),
        ]
    except ReplayError:
        return []  # verification says so


def shortened(faults: Iterator[str], what: str, most: int = MOST_SENTENCES) -> Iterator[str]:
    """Yield the first `most` faults of one kind, and how many more there are."""
    yield from islice(faults, most)
    if more := sum(1 for _ in faults):
        yield f"and {more} more {what} differ"
