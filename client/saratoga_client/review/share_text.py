"""The text about a race for friends.

It names no card, so friends can still play the deal, and it has the command that checks the race.
"""

from collections.abc import Iterator

from saratoga_client.local.printed_command import printed_command
from saratoga_client.review.boards import OpenBoard
from saratoga_client.sanitised import sanitised
from saratoga_client.wording import dollars, minutes_and_seconds, ordinal, shown_name
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_rules.records.replay import game_of

MOST_NAMED = 3
"""Maximum number of other racers in the text, which must be short enough for phones."""


def race_text(
    record: RaceRecord, boards: tuple[OpenBoard, ...], player: str, server: str = ""
) -> str:
    """Return the text with a racer's result first; for any other player, the winner's.

    `server` is the address by which friends reach the server that has the record, if known.
    """
    own = next((board for board in boards if board.player == player), boards[0])
    words = digest_words(digest_of(format_record(record)))
    lines = [
        f"Saratoga, {game_of(record).title}, race {record.race_id}",
        f"{_name(own)}: {ordinal(own.place)} of {len(boards)}, {_result(own)}",
        *_others(boards, own),
        f"Check it: {printed_command('verify', f'{record.race_id}#{words}', server=server)}",
    ]
    return "\n".join(map(sanitised, lines))


def _others(boards: tuple[OpenBoard, ...], own: OpenBoard) -> Iterator[str]:
    others = [board for board in boards if board is not own]
    for board in others[:MOST_NAMED]:
        yield f"{board.place}. {_name(board)}: {_result(board)}"
    left = len(others) - MOST_NAMED
    if left > 0:
        yield f"and {left} more"


def _name(board: OpenBoard) -> str:
    return shown_name(board.name, board.bot, board.level)


def _result(board: OpenBoard) -> str:
    reached = "" if board.reached is None else f", reached at {minutes_and_seconds(board.reached)}"
    return f"{board.banked} banked, {dollars(board.net)}{reached}, {board.state}"
