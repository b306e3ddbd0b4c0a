"""The text about a race for friends.

It names no card, so friends can still play the deal, and it has the command that checks the race.
"""

from collections.abc import Iterator
from typing import Final

from saratoga_client.local.printed_command import printed_command
from saratoga_client.review.boards import OpenBoard
from saratoga_client.wording import (
    dollars,
    finish,
    minutes_and_seconds,
    state_words,
)
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_rules.records.replay import game_of

MOST_NAMED: Final = 4
"""Maximum number of racers in the text, which must be short enough for phones."""


def race_text(
    record: RaceRecord, boards: tuple[OpenBoard, ...], player: str, server: str = ""
) -> str:
    """Return the text with the place of a player and the first racers; the player is always among them.

    `server` is the address by which friends reach the server that has the record, if known.
    """
    own = next((board for board in boards if board.player == player), None)
    words = digest_words(digest_of(format_record(record)))
    lines = [
        f"Saratoga, {game_of(record).title}, race {record.race_id}",
        *_finish(boards, own),
        *_results(boards, own),
        f"Check it: {printed_command('verify', f'{record.race_id}#{words}', server=server)}",
    ]
    return "\n".join(map(sanitised, lines))


def _finish(boards: tuple[OpenBoard, ...], own: OpenBoard | None) -> Iterator[str]:
    """Yield the line on the player's place, if the player raced others."""
    if own is None or len(boards) == 1:
        return
    sharing = [each.shown_name for each in boards if each.place == own.place and each is not own]
    yield f"{finish(own.shown_name, own.place, len(boards), sharing)}."


def _results(boards: tuple[OpenBoard, ...], own: OpenBoard | None) -> Iterator[str]:
    named = boards[:MOST_NAMED]
    if own is not None and own not in named:
        named = (*boards[: MOST_NAMED - 1], own)
    for board in named:
        yield f"{board.place}. {board.shown_name}: {_result(board)}"
    if left := len(boards) - len(named):
        yield f"and {left} more"


def _result(board: OpenBoard) -> str:
    reached = "" if board.reached is None else f", reached at {minutes_and_seconds(board.reached)}"
    return f"{board.banked} banked, {dollars(board.net)}{reached}, {state_words(board.state)}"
