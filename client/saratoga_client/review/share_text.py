"""The text about a race for friends: who won, a bar for each of the first racers, and where to see it.

It names no card, so friends can still play the deal.
"""

from collections.abc import Sequence
from typing import Final

from saratoga_client.local.printed_command import printed_command
from saratoga_client.review.boards import OpenBoard
from saratoga_client.wording import counted, listed, shown_name
from saratoga_protocol.events import Match
from saratoga_protocol.matches import champions
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import game_of

MOST_NAMED: Final = 4
"""Maximum number of racers in the text, which must be short enough for phones."""

BAR: Final = 7
"""Number of signs in the longest bar."""

BOT: Final = " (bot)"
"""The sign of a bot for people who may not know this program's."""


def race_text(
    record: RaceRecord,
    boards: Sequence[OpenBoard],
    player: str,
    server: str = "",
    match: Match | None = None,
) -> str:
    """Return three lines with the first racers of a race, and the player who shares it among them.

    `server` is the address by which friends reach the server that has the record, if known; `match`
    the match that the race has ended, if it has.
    """
    winners = [_called(board) for board in boards if board.place == 1]
    if len(boards) == 1:
        won = f"{winners[0]} banked {counted(boards[0].banked)}"
    elif len(winners) > 1:
        won = f"{listed(winners)} share first place"
    else:
        more = boards[0].banked - boards[1].banked
        won = f"{winners[0]} won{f' by {counted(more)}' if more else ''}"
    if match is not None and (first := champions(match)):
        names = listed([shown_name(row.name, row.bot, BOT) for row in first])
        won = f"{names} won the match of {match.races} races"
    named = [
        *boards[: MOST_NAMED - 1],
        *(b for b in boards[MOST_NAMED - 1 :] if b.player == player),
    ]
    named += [board for board in boards if board not in named][: MOST_NAMED - len(named)]
    top = max(board.banked for board in boards) or 1
    bars = [
        f"{_called(board)} {board.banked} {'▇' * -(-BAR * board.banked // top)}".rstrip()
        for board in sorted(named, key=boards.index)
    ]
    left = f"  and {len(boards) - len(named)} more" if len(boards) > len(named) else ""
    replay = printed_command("replay", record.race_id)
    # ws becomes http, and wss https
    where = (
        f"http{server.removeprefix('ws').rstrip('/')}/races/{record.race_id}" if server else replay
    )
    lines = (
        f"{game_of(record).title}, {record.race_id}: {won}",
        "  ".join(bars) + left,
        f"See it: {where}",
    )
    return "\n".join(map(sanitised, lines))


def _called(board: OpenBoard) -> str:
    return shown_name(board.name, board.bot, BOT)
