"""A racer's board: the deal and the moves made on it, folded into a position.

Pure. Entries that the store has accepted come in; positions and standings come out. The log is the
truth: a `Board` can be folded from it again at any time, on any node.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct, field

from saratoga_rules.game import Game
from saratoga_rules.judge import is_won, play
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.position import Position
from saratoga_rules.records.record import LOG_ENDINGS
from saratoga_rules.records.standing import Reached, State
from saratoga_rules.stuck.stuck import StuckSearch, may_declare
from saratoga_server.domain.board_log import BoardLog
from saratoga_server.ports import BoardCommit, LiveStanding, LogEntry, Millis, StoredBoard

RACING: Final = State.RACING
WON: Final = State.WON
OUT_OF_TIME: Final = State.OUT_OF_TIME
"""Every move asks for these; on Python 3.11 an enum's attribute costs fourteen times a global's."""

IDLE_MILLIS: Final = 180_000
"""A racer among others who makes no move for this long counts as having left."""

FOLD_STEP: Final = 100
"""Entries folded in one step: about 1 ms."""

ENDING_OF_STATE: Final[Mapping[State, str]] = {state: text for text, state in LOG_ENDINGS.items()}
"""The log's word for each ending that the position alone does not show."""


class Board(Struct):
    """One racer's position, and how it came about."""

    position: Position
    start_at: Millis
    last_id: int = 0
    """The highest command id accepted for the board."""
    banked: int = 0
    state: State = RACING
    length: int = 0
    """Entries in the log."""
    log: BoardLog = field(default_factory=BoardLog)
    rises: dict[int, Reached] = field(default_factory=dict)
    """For each count, when it was last reached by rising to it."""

    @property
    def racing(self) -> bool:
        return self.state is RACING

    @property
    def reached(self) -> Reached | None:
        """When the present count was last reached; `None`: never bettered since the deal."""
        return self.rises.get(self.banked)

    def standing(self) -> LiveStanding:
        """What others may know of the board."""
        return LiveStanding(self.length, self.banked, self.state, self.reached)


class BoardChange(Struct, frozen=True):
    """What a move or an ending leads to, before it is stored."""

    position: Position
    banked: int
    state: State
    rises: bool = False
    """Whether it raises the count: then the count is reached by it."""


def open_board(opening: Position, start_at: Millis) -> Board:
    """Return a board as dealt."""
    return Board(position=opening, start_at=start_at, banked=opening.banked)


def played(game: Game, board: Board, move: Move) -> BoardChange:
    """Return what `move` leads to. Raises `IllegalMove`."""
    position = play(game, board.position, move)
    banked = position.banked
    rises = banked > board.banked
    return BoardChange(position, banked, WON if rises and is_won(game, position) else RACING, rises)


def stuck_search(game: Game, position: Position, state: State) -> StuckSearch | None:
    """Return a search for whether the board is stuck; `None` where its verdict may not be declared."""
    if state is RACING and may_declare(position):
        return StuckSearch(game, position)
    return None


def ended(board: Board, state: State) -> BoardChange:
    """Return what an ending leads to that the position does not show."""
    return BoardChange(board.position, board.banked, state)


def commit_of(
    board: Board,
    after: BoardChange,
    entries: tuple[str, ...],
    *,
    table: str,
    race: int,
    player: str,
    epoch: int = 0,
    command_id: int = 0,
) -> BoardCommit:
    """Return the write that appends `entries`; without epoch and id they are the server's own."""
    return BoardCommit(
        table=table,
        race=race,
        player=player,
        epoch=epoch,
        command_id=command_id,
        after=board.length,
        entries=entries,
        banked=after.banked,
        state=after.state,
        rises=after.rises,
        late=after.state is OUT_OF_TIME,
    )


def enter(board: Board, after: BoardChange, entries: Iterable[LogEntry]) -> None:
    """Put entries that the store has accepted on the board. The first may be a rise."""
    rises = after.rises
    for entry in entries:
        board.log.append(entry)
        if rises:
            board.rises[after.banked] = Reached(entry.at - board.start_at, entry.number)
            rises = False
        board.length += 1
        if entry.command_id > board.last_id:
            board.last_id = entry.command_id
    board.banked = after.banked
    board.position = after.position
    board.state = after.state


def continued(known: Board, stored: StoredBoard) -> Board | None:
    """Return a copy of `known` that the stored log goes on from; `None` if the two differ.

    Logs are only appended to, and no two entries of a table have the same number: if the last entry
    is the same, all before it are.
    """
    length = known.length
    if length > len(stored.entries) or (length and stored.entries[length - 1] != known.log[-1]):
        return None
    return msgspec.structs.replace(known, log=known.log.copy(), rises=dict(known.rises))


def fold(game: Game, board: Board, stored: StoredBoard) -> Iterator[int]:
    """Put what is missing of a stored log on a board; yields the count after every `FOLD_STEP`.

    A long log takes longer than an event loop should wait: the caller yields to it between steps.
    """
    known = board.length
    for number, entry in enumerate(stored.entries[known:], start=known + 1):
        enter(board, _replayed(game, board, entry), (entry,))
        if number % FOLD_STEP == 0:
            yield number
    board.last_id = max(board.last_id, stored.last_id)


def _replayed(game: Game, board: Board, entry: LogEntry) -> BoardChange:
    ending = LOG_ENDINGS.get(entry.text)
    if ending is None:
        return played(game, board, parse_move(entry.text))
    return ended(board, ending)


def is_idle(board: Board, now: Millis, since: Millis) -> bool:
    """Whether the racer has made no move for so long that others need not wait.

    Time before `since`, when the server started or its clock was stepped, does not count.
    """
    last = board.log[-1].at if board.log else board.start_at
    return board.racing and now - max(last, since) >= IDLE_MILLIS
