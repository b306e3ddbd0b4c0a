"""Findings from the record of a race for the page of results: counts, differences, pauses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from saratoga_client.review.boards import OpenBoard, open_boards
from saratoga_client.review.chart import chart
from saratoga_client.review.divergence import divergence_lines, first_divergence, longest_pauses
from saratoga_client.review.share_text import race_text
from saratoga_client.wording import NO_LEVELS, minutes_and_seconds, shown_name
from saratoga_rules.money import even_at
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError, game_of

_LETTERS: Final = str.maketrans(
    {"\u2663": "c", "\u2660": "s", "\u2665": "h", "\u2666": "d", "\u2661": "h", "\u2662": "d"}
)


def in_ascii(text: str) -> str:
    r"""Return a text with letters in place of the symbols of suits.

    >>> in_ascii("10\u2665 from column 2 banked")
    '10h from column 2 banked'
    """
    return text.translate(_LETTERS)


LONG: Final = 5_000
"""Minimum length, in milliseconds, of a pause that the page mentions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings of one race for one player."""

    record: RaceRecord
    boards: tuple[OpenBoard, ...]
    player: str
    even: int
    """The least number of banked cards that is no loss."""
    divergence: tuple[str, ...] = ()
    """Lines with the player's first move that differs from the winner's, and the winner's move."""
    pause: str = ""
    """A sentence on the player's longest pause; empty if all pauses were shorter than `LONG`."""
    share: str = ""
    """The text about the race that the player can copy for friends."""

    @property
    def levels(self) -> Mapping[str, str]:
        """The levels of the racers that are bots, by player id; empty if unknown."""
        return {board.player: board.level for board in self.boards}

    def chart(self, width: int, height: int) -> tuple[str, ...]:
        """Return the lines of the chart of all racers' banked cards over time."""
        return chart([board.chart_line for board in self.boards], self.even, width, height).rows


def findings_of(
    record: RaceRecord, player: str, levels: Mapping[str, str] = NO_LEVELS, server: str = ""
) -> Findings | None:
    """Return the findings for a player; `None` if the record has no boards or cannot be replayed.

    `levels` has the levels of bots by player id, as far as they are known. `server` is the address
    by which friends reach the server, for the text that they get.
    """
    try:
        boards = open_boards(record, levels)
    except ReplayError:
        return None
    if not boards:
        return None
    game = game_of(record)
    own = next((board for board in boards if board.player == player), None)
    return Findings(
        record=record,
        boards=boards,
        player=player,
        even=even_at(game),
        divergence=() if own is None else _divergence(record, own, boards[0]),
        pause="" if own is None else _pause(own),
        share=race_text(record, boards, player, server),
    )


def _divergence(record: RaceRecord, own: OpenBoard, winner: OpenBoard) -> tuple[str, ...]:
    if own is winner:
        return ()
    divergence = first_divergence(game_of(record), own, winner)
    if divergence is None:
        return ()
    return divergence_lines(divergence, "you", shown_name(winner.name, winner.bot, winner.level))


def _pause(own: OpenBoard) -> str:
    longest = next(iter(longest_pauses(own, 1)), None)
    if longest is None or longest.lasted < LONG:
        return ""
    seconds = longest.lasted // 1000
    return f"Your longest pause: {seconds} s, from {minutes_and_seconds(longest.since)} on."


def lettered(text: str, ascii_only: bool) -> str:
    """Return a text, with letters for suit symbols if `ascii_only`."""
    return in_ascii(text) if ascii_only else text
