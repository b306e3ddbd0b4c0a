"""A finished race in plain lines: moves, differences from the winner, and pauses. Pure."""

from collections.abc import Iterator, Mapping

from saratoga_client.plain.board import money_words, moved_line, position_lines, rule_line
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.review.boards import OpenBoard, open_boards
from saratoga_client.review.divergence import first_divergence, longest_pauses
from saratoga_client.wording import (
    NO_LEVELS,
    counted,
    dollars,
    duration_text,
    minutes_and_seconds,
    shown_name,
    state_words,
)
from saratoga_rules.game import Game
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
        yield from _moves(game, board, card_names)
        if board is not boards[0]:
            yield from divergence_lines(game, board, boards[0], card_names)


def review_lines(
    record: RaceRecord,
    player: str,
    card_names: CardNames = LETTERS,
    levels: Mapping[str, str] = NO_LEVELS,
) -> Iterator[str]:
    """Return lines on a racer's first difference from the winner, and on the longest pauses.

    `levels` has the levels of bots by player id, as far as they are known.
    """
    game, boards = game_of(record), open_boards(record, levels)
    own = next((board for board in boards if board.player == player), None)
    if own is None:
        yield "no: You were not in this race. Type results for how it ended."
        return
    yield _result_line(own)
    if own is boards[0]:
        yield "review: no one did better"
    else:
        yield from divergence_lines(game, own, boards[0], card_names)
    yield from _pauses(own)


def _pauses(board: OpenBoard) -> Iterator[str]:
    for pause in longest_pauses(board):
        after = f"after move {pause.step}" if pause.step else "at the deal"
        yield f"pause: {duration_text(pause.lasted)} {after}, at {minutes_and_seconds(pause.since, tenths=True)}"


def divergence_lines(
    game: Game, own: OpenBoard, winner: OpenBoard, card_names: CardNames = LETTERS
) -> Iterator[str]:
    """Return lines on the first move in which a board differs from the winner's."""
    divergence = first_divergence(game, own, winner, card_names.card)
    if divergence is None:
        yield f"parted: never; {_name(winner)} made the same moves"
        return
    yield f"parted: after {counted(divergence.common, 'move')}"
    for board, move, at in (
        (own, divergence.own_next, divergence.own_at),
        (winner, divergence.winners_next, divergence.winners_at),
    ):
        yield f"parted {_name(board)}: {move or 'stopped there'}, at {minutes_and_seconds(at, tenths=True)}"


def _result_line(board: OpenBoard) -> str:
    tie = f" ({board.tie})" if board.tie else ""
    return (
        f"result {board.place}. {_name(board)}: {board.banked} banked, "
        f"{dollars(board.net)}, {state_words(board.state)}{tie}"
    )


def _moves(game: Game, board: OpenBoard, card_names: CardNames) -> Iterator[str]:
    for number, line in enumerate(board.entries, start=1):
        if not line.is_move:
            yield f"ended: {state_words(board.state)}, at {minutes_and_seconds(line.at, tenths=True)}"
            continue
        before, after = board.view(number - 1), board.view(number)
        move = moved_line(game, before, after, parse_move(line.text), number, card_names)
        yield f"{move}; at {minutes_and_seconds(line.at, tenths=True)}"


def _name(board: OpenBoard) -> str:
    return shown_name(board.name, board.bot, board.level)
