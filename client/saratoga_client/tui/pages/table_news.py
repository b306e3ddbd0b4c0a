"""The news of a table for a player who reads another screen meanwhile: help, review or chart. Pure."""

from typing import Final

from saratoga_client.session.result_text import own_result
from saratoga_client.session.seat_changes import seat_news
from saratoga_client.session.state import SessionState

HOST_AWAY: Final = (
    "No key for two minutes. After three, another player becomes host; press any key to stay host."
)
"""The warning for a host between races."""


def table_news(before: SessionState, after: SessionState) -> str:
    """Return a sentence for the message line of a screen that covers the table's; empty without news."""
    if before.phase == "over" and after.phase == "gathering":
        return "The table is open for the next race: q goes there."
    if before.table_view.outcome is None and after.table_view.outcome is not None:
        return f"The race is over. {own_result(after)} q shows the results.".replace("  ", " ")
    if not after.is_between_races:
        # during a race the panel shows changed seats
        return ""
    if after.idle_left and not before.idle_left:
        return HOST_AWAY
    return seat_news(before.table, after.table, after.player)
