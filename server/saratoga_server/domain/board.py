"""A racer's board: the deal and the moves made on it, folded into a position.

Pure. Takes log entries that the store has accepted and returns positions and standings. The log is
the source of truth: a `Board` can be rebuilt from it at any time, on any node.
"""

from collections.abc import Iterator
from sys import intern
from typing import Final

import msgspec
from msgspec import Struct, field

from saratoga_rules.analysis import Analysis
from saratoga_rules.game import Game
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position
from saratoga_rules.records.heads import first_head, next_head, shown
from saratoga_rules.records.standing import IDLE_MILLIS, LOG_ENDINGS, Reached, State
from saratoga_rules.stuck import stuck
from saratoga_rules.stuck.stuck import StuckSearch, may_declare
from saratoga_server.ports import BoardCommit, Damage, LiveStanding, LogEntry, Millis, StoredBoard

RACING: Final = State.RACING
WON: Final = State.WON
OUT_OF_TIME: Final = State.OUT_OF_TIME
"""The states as globals, because every move reads them: an enum's attribute is 14 times slower."""

AHEAD_MILLIS: Final = 200
"""Milliseconds by which a node's clock may be ahead of the store's."""

FOLD_STEP: Final = 100
"""Log entries applied in one step: about 1 ms."""


class Board(Struct):
    """A racer's board: the position, and the log that led to it."""

    position: Position
    start_at: Millis
    key: bytes
    """The deal key of the race, which keys the heads."""
    head: bytes
    """The head after the last entry (`saratoga_rules.records.heads`)."""
    row_head: str
    """The head, as shown, after the last entry that changed `banked` or `state`, or the first head."""
    banked: int = 0
    state: State = RACING
    length: int = 0
    """The number of entries in the log."""
    log: list[LogEntry] = field(default_factory=list)
    rises: dict[int, Reached] = field(default_factory=dict)
    """The moment when the number of banked cards last rose to each value, by that value."""
    analysis: Analysis | None = None
    """The position's analysis, from which the next one is made; `None` before the first move."""

    @property
    def racing(self) -> bool:
        return self.state is RACING

    @property
    def reached(self) -> Reached | None:
        """The moment when `banked` last rose to its present value; `None` if it never did."""
        return self.rises.get(self.banked)

    def lines(self, entries: range) -> list[str]:
        """Return the entries with these indexes as lines of the record."""
        found = [self.log[index] for index in entries]
        return [f"{entry.at - self.start_at} {entry.number} {entry.text}" for entry in found]

    def standing(self) -> LiveStanding:
        """Return the part of the board that other players may see."""
        return LiveStanding(self.length, self.banked, self.state, self.row_head, self.reached)


class BoardChange(Struct, frozen=True):
    """The result of a move or an ending, or of both, not stored yet."""

    position: Position
    banked: int
    state: State
    entries: tuple[str, ...]
    """The entries to append to the log."""
    head: bytes
    """The head after them."""
    rises: bool = False
    """True if the move raises the number of banked cards."""
    analysis: Analysis | None = None

    def shows_in(self, board: Board) -> bool:
        """Return whether the change alters what other players see of the board."""
        return self.banked != board.banked or self.state is not board.state


def open_board(opening: Position, start_at: Millis, key: bytes, race_id: str, player: str) -> Board:
    """Return a board with the deal and no moves."""
    head = first_head(key, race_id, player)
    return Board(opening, start_at, key, head, shown(head), banked=opening.banked)


def played(game: Game, board: Board, move: Move) -> BoardChange:
    """Return the result of `move`. Raises `IllegalMove`."""
    position = play(game, board.position, move)
    banked = position.banked
    rises = banked > board.banked
    state = WON if rises and is_won(game, position) else RACING
    analysis = Analysis(game, position, board.analysis)
    head = _head_after(board, move.text)
    return BoardChange(position, banked, state, (move.text,), head, rises, analysis)


def _head_after(board: Board, text: str) -> bytes:
    """Return the head after an entry that follows the board's last one."""
    at = number = 0
    if board.length:
        last = board.log[-1]
        at, number = last.at - board.start_at, last.number
    return next_head(board.key, board.head, at, number, text)


def analysis_of(game: Game, board: Board | BoardChange) -> Analysis:
    """Return the analysis of the board's position."""
    return board.analysis or Analysis(game, board.position)


def stuck_search(game: Game, board: Board | BoardChange) -> StuckSearch | None:
    """Return a search that tests if the board is stuck; `None` if it cannot be, or is not."""
    if board.state is RACING and may_declare(board.position):
        return stuck.stuck_search(analysis_of(game, board))
    return None


def ended(board: Board, state: State) -> BoardChange:
    """Return the result of an ending other than a win."""
    text = state.value
    return BoardChange(
        board.position,
        board.banked,
        state,
        (text,),
        _head_after(board, text),
        analysis=board.analysis,
    )


def stuck_after(board: Board, after: BoardChange) -> BoardChange:
    """Return a move's result with the ending `stuck` that it brings."""
    text = State.STUCK.value
    head = next_head(board.key, after.head, 0, 0, text)
    return msgspec.structs.replace(
        after, state=State.STUCK, entries=(*after.entries, text), head=head
    )


def commit_of(
    board: Board,
    after: BoardChange,
    *,
    table: str,
    race: int,
    player: str,
    epoch: int = 0,
) -> BoardCommit:
    """Return the commit of a change; the server's own have no epoch."""
    return BoardCommit(
        table=table,
        race=race,
        player=player,
        epoch=epoch,
        after=board.length,
        entries=after.entries,
        banked=after.banked,
        state=after.state,
        # the store has no head of a board without entries
        head=shown(after.head) if after.shows_in(board) or not board.length else "",
        rises=after.rises,
        late=after.state is OUT_OF_TIME,
    )


def enter(board: Board, after: BoardChange, at: Millis, number: int) -> None:
    """Apply a stored change; `at` and `number` are those of its first entry, the move."""
    if after.shows_in(board):
        board.row_head = shown(after.head)
    if after.rises:
        board.rises[after.banked] = Reached(at - board.start_at, number)
    for place, text in enumerate(after.entries):
        # the same few hundred moves are made again and again
        board.log.append(LogEntry(intern(text), at, number + place))
    board.length += len(after.entries)
    board.head = after.head
    board.banked = after.banked
    board.position = after.position
    board.analysis = after.analysis
    board.state = after.state


def continued(known: Board, stored: StoredBoard) -> Board | None:
    """Return a copy of `known` if the stored log continues its log; `None` if the two differ.

    Logs are only appended to, and no two entries of a table have the same number. So if the last
    known entry is the same, all entries before it are.
    """
    length = known.length
    if length > len(stored.entries) or (length and stored.entries[length - 1] != known.log[-1]):
        return None
    return msgspec.structs.replace(known, log=known.log.copy(), rises=dict(known.rises))


def fold(game: Game, board: Board, stored: StoredBoard) -> Iterator[int]:
    """Apply the missing entries of a stored log to a board, yielding after every `FOLD_STEP`.

    A long log takes too long for one turn of the event loop: the caller yields to it between steps.
    Raises `Damage` if the log cannot be replayed, or does not lead to what is stored beside it.
    """
    known = board.length
    for number, entry in enumerate(stored.entries[known:], start=known + 1):
        try:
            after = _replayed(game, board, entry)
        except ValueError as fault:  # `IllegalMove`, or an entry that is no move
            raise Damage(f"entry {number} ({entry.text!r}) does not follow: {fault}") from None
        enter(board, after, entry.at, entry.number)
        if number % FOLD_STEP == 0:
            yield number
    if (stored.banked, stored.state) != (board.banked, board.state):
        raise Damage(
            f"the log ends {board.state} with {board.banked} banked, and the store has "
            f"{stored.state} with {stored.banked}"
        )


def _replayed(game: Game, board: Board, entry: LogEntry) -> BoardChange:
    """Return the change by a stored entry. Raises `ValueError`."""
    if not board.racing:
        raise ValueError("the board has ended before")
    if entry.text in LOG_ENDINGS:
        return ended(board, State(entry.text))
    return played(game, board, parse_move(entry.text))


def repeated(board: Board, after: int, text: str) -> range:
    """Return the indexes of the entries of a command that was carried out before, if it was.

    A move may have brought the ending that follows it.
    """
    if after >= board.length or board.log[after].text != text:
        return range(0)
    brought = after + 1 < board.length and board.log[after + 1].text == State.STUCK.value
    return range(after, after + 1 + brought)


def is_idle(board: Board, now: Millis, sign: Millis) -> bool:
    """Return whether the racer is idle for `IDLE_MILLIS`; `sign`: the last one besides moves."""
    last = board.log[-1].at if board.log else board.start_at
    return board.racing and now - max(last, sign) >= IDLE_MILLIS + AHEAD_MILLIS
