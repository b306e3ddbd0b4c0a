"""A race's boards: each a deal and the moves made on it, folded into a position.

Pure: entries that the store accepted come in, positions and standings come out. The log is the
truth; a `Board` can be folded from it again at any time, on any node.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct, field

from saratoga_rules.game import Game
from saratoga_rules.judge import is_won, play
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.position import Position
from saratoga_rules.record import LOG_ENDINGS
from saratoga_rules.standing import Reached, State
from saratoga_server.domain.board_log import Log
from saratoga_server.ports import LogEntry, Millis, StoredBoard

RACING: Final = State.RACING
WON: Final = State.WON
OUT_OF_TIME: Final = State.OUT_OF_TIME
"""By name: every move asks for them, and to reach a member of an enum takes Python 3.11 fourteen times as long."""

IDLE_LEAVES: Final = 180_000
"""Milliseconds without a move after which a racer among others counts as having left."""

FOLD_STEP: Final = 100
"""Entries that are folded at once: about 1 ms."""

ENDING_OF_STATE: Mapping[State, str] = {state: text for text, state in LOG_ENDINGS.items()}
"""The log's word for each ending that the position alone does not show."""


class Board(Struct):
    """One racer's position, and how it came about."""

    position: Position
    start_at: Millis
    last_id: int = 0
    """The highest command id accepted for it."""
    banked: int = 0
    state: State = RACING
    length: int = 0
    """How many entries the log has."""
    log: Log = field(default_factory=Log)
    rises: dict[int, Reached] = field(default_factory=dict)
    """For each count, when it was last reached by rising to it."""

    @property
    def moves(self) -> int:
        """How many of the entries are moves."""
        return sum(text not in LOG_ENDINGS for text in self.log.texts())

    @property
    def racing(self) -> bool:
        return self.state is RACING

    @property
    def reached(self) -> Reached | None:
        """When the present count was last reached; `None`: it is the deal's, never bettered."""
        return self.rises.get(self.banked)


class Played(Struct, frozen=True):
    """What a move leads to, before anybody has stored it."""

    position: Position
    banked: int
    state: State


def open_board(opening: Position, start_at: Millis) -> Board:
    """A board as dealt."""
    return Board(position=opening, start_at=start_at, banked=opening.banked)


def played(game: Game, board: Board, move: Move) -> Played:
    """What `move` leads to; raises `IllegalMove` with the refusal, and changes nothing."""
    position = play(game, board.position, move)
    banked = position.banked
    won = banked > board.banked and is_won(game, position)
    return Played(position, banked, WON if won else RACING)


def enter(board: Board, after: Played, entries: Iterable[LogEntry]) -> None:
    """Put what the store has accepted on the board."""
    for entry in entries:
        board.log.append(entry)
        if after.banked > board.banked:
            board.rises[after.banked] = Reached(entry.at - board.start_at, entry.number)
        board.banked = after.banked
        board.length += 1
        if entry.command_id > board.last_id:
            board.last_id = entry.command_id
    board.position = after.position
    board.state = after.state


def as_far_as(known: Board, stored: StoredBoard) -> Board | None:
    """A copy of a board that the stored log goes on from; `None` if it tells another story.

    Logs are only ever appended to, and no two entries of a table have the same number: if the last
    entry is the same, so are all before it.
    """
    length = known.length
    if length > len(stored.entries) or (length and stored.entries[length - 1] != known.log[-1]):
        return None
    return msgspec.structs.replace(known, log=known.log.copy(), rises=dict(known.rises))


def fold(game: Game, board: Board, stored: StoredBoard) -> Iterator[int]:
    """Put what is missing of a stored log on a board, in steps; yields how many entries are on it.

    A long log takes longer than an event loop should wait: whoever has one does other things
    between the steps.
    """
    known = board.length
    for number, entry in enumerate(stored.entries[known:], start=known + 1):
        enter(board, _replayed(game, board, entry), (entry,))
        if number % FOLD_STEP == 0:
            yield number
    board.last_id = max(board.last_id, stored.last_id)


def _replayed(game: Game, board: Board, entry: LogEntry) -> Played:
    ending = LOG_ENDINGS.get(entry.text)
    if ending is None:
        return played(game, board, parse_move(entry.text))
    return Played(board.position, board.banked, ending)


def is_quiet(board: Board, now: Millis, since: Millis) -> bool:
    """Whether the racer has made no move for so long that others need not wait.

    Nobody can be blamed for what lies before `since`, when the house opened or its clock was stepped.
    """
    last = board.log[-1].at if board.log else board.start_at
    return board.racing and now - max(last, since) >= IDLE_LEAVES
