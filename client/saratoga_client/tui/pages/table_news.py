"""Sentences on idle players and ended boards, and the news of a table for a player who reads another screen.

Such a screen is the help, a review or the chart. Pure.
"""

from typing import Final

from saratoga_client.session.news import seat_news
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.result_text import name_of, own_result
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import rows
from saratoga_client.wording import dollars

HOST_AWAY: Final = (
    "No key for two minutes. After three, another player becomes host; press any key to stay host."
)
"""The warning for a host between races."""

LOST: Final = "Connection lost; trying again."

RESTORED: Final = "Connected again."

ENDINGS: Final = {
    "won": "You have won! All {banked} cards are banked, net {net}.",
    "cash-out": "Cashed out: {banked} banked, net {net}.",
    "stuck": "Stuck: nothing more can be banked. Your board is over: {banked} banked, net {net}.",
    "out-of-time": "Time is up: {banked} banked, net {net}. All of it counts.",
    "left": "You left the race: {banked} banked, net {net}. All of it counts.",
    "ended-by-host": "{host} has ended the race: {banked} banked, net {net}. All of it counts.",
    "idle": (
        "Your board ended after 3 minutes without a key. Your seat is kept. {banked} banked, net {net};"
        " the next race comes after this one."
    ),
}
"""The message at the end of the player's board, by the board's state."""


def board_warning(left: int) -> str:
    """Return the warning `left` seconds before the board of an idle player ends."""
    return f"No key for a while. Your board ends in {left} s; press any key to go on."


def idle_warning(state: SessionState) -> str:
    """Return the warning for a player who has given no sign of activity; empty without one."""
    if not state.idle_left:
        return ""
    return HOST_AWAY if state.is_between_races else board_warning(state.idle_left)


def own_ending(state: SessionState, own: OwnBoard) -> str:
    """Return a sentence on the end of the player's board and the number of players still racing."""
    words = ENDINGS.get(own.state, "Your board is over: {banked} banked, net {net}.")
    host = name_of(state, state.table.host)
    ending = words.format(banked=own.banked, net=dollars(own.net), host=host)
    others = [
        row
        for row in rows(state.table_view)
        if row.state == "racing" and row.player != state.player
    ]
    if others and state.phase == "running":
        names = [row.name for row in others]
        racing = str(len(names)) if len(names) > 2 else " and ".join(names)
        ending += f" {racing} {'is' if len(names) == 1 else 'are'} still racing."
    return ending


def table_news(before: SessionState, after: SessionState) -> str:
    """Return a sentence for the message line of a screen that covers the table's; empty without news."""
    if before.is_connected != after.is_connected:
        return RESTORED if after.is_connected else LOST
    if before.phase == "over" and after.phase == "gathering":
        return "The table is open for the next race: q goes there."
    if before.table_view.outcome is None and after.table_view.outcome is not None:
        return f"The race is over. {own_result(after)} q shows the results.".replace("  ", " ")
    warning = idle_warning(after)
    if warning and warning != idle_warning(before):
        return warning
    if not after.is_between_races:
        # during a race the panel shows changed seats
        return _ending_news(before.own, after)
    return seat_news(before.table, after.table, after.player)


def _ending_news(before: OwnBoard | None, after: SessionState) -> str:
    """Return a sentence if the player's board has just ended; else an empty text."""
    own = after.own
    if own is None or own.is_racing or before is None or not before.is_racing:
        return ""
    return own_ending(after, own)
