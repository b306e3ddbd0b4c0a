"""A finished race in plain lines: moves, differences from the winner, and pauses. Pure."""

from collections.abc import Iterator

from saratoga_client.plain.board import money_words, moved_line, position_lines, rule_line
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.review.boards import (
    OpenBoard,
    first_difference,
    longest_pauses,
    open_boards,
)
from saratoga_client.wording import (
    counted,
    dollars,
    duration_text,
    minutes_and_seconds,
    state_words,
)
from saratoga_rules.moves import parse_move
from saratoga_rules.position import redact
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import game_of


def replay_lines(record: RaceRecord, card_names: CardNames = LETTERS) -> Iterator[str]:
    """Return lines for the deal, then for every board by place. Raises `ReplayError`."""
    game, boards = game_of(record), open_boards(record)
    deal = redact(record.opening)
    yield f"race {record.race_id}: {game.name}, {counted(len(boards), 'racer')}"
    yield f"deal: {game.name}, {money_words(game, deal)}"
    yield from position_lines(game, deal, card_names)
    yield rule_line(game, deal)
    for board in boards:
        yield _result_line(board)
        yield from _moves(board, card_names)
        if board is not boards[0]:
            yield from _difference(board, boards[0], card_names)


def review_lines(record: RaceRecord, player: str, card_names: CardNames = LETTERS) -> Iterator[str]:
    """Return lines on a racer's first difference from the winner, and on the longest pauses."""
    boards = open_boards(record)
    own = next((board for board in boards if board.player == player), None)
    if own is None:
        yield "no: You were not in this race. Type results for how it ended."
        return
    yield _result_line(own)
    if own is boards[0]:
        yield "review: no one did better"
    else:
        yield from _difference(own, boards[0], card_names)
    for since, lasted, step in longest_pauses(own):
        after = f"after move {step}" if step else "at the deal"
        yield f"pause: {duration_text(lasted)} {after}, at {_time(since)}"


def _difference(own: OpenBoard, winner: OpenBoard, card_names: CardNames) -> Iterator[str]:
    """Return lines on the first move in which a board differs from the winner's."""
    step = first_difference(own, winner)
    if step is None:
        yield f"parted: never; {winner.shown_name} made the same moves"
        return
    yield f"parted: after {counted(step, 'move')}"
    for board in (own, winner):
        words = board.entry_words(step, card_names.card) or "stopped there"
        yield f"parted {board.shown_name}: {words}, at {_time(board.time_of(step))}"


def _result_line(board: OpenBoard) -> str:
    tie = f" ({board.tie})" if board.tie else ""
    return (
        f"result {board.place}. {board.shown_name}: {board.banked} banked, "
        f"{dollars(board.net)}, {state_words(board.state)}{tie}"
    )


def _moves(board: OpenBoard, card_names: CardNames) -> Iterator[str]:
    for number, line in enumerate(board.entries, start=1):
        if not line.is_move:
            yield f"ended: {state_words(board.state)}, at {_time(line.at)}"
            continue
        before, after = board.view(number - 1), board.view(number)
        move = moved_line(board.game, before, after, parse_move(line.text), number, card_names)
        yield f"{move}; at {_time(line.at)}"


def _time(at: int) -> str:
    return minutes_and_seconds(at, tenths=True)
