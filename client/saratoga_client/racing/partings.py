"""Why a player's evening at a table ends, in words: what happened, what to do, what is safe."""

from typing import Final

from saratoga_client.problems import Exit, Problem
from saratoga_client.racing.desk import DeskClosed
from saratoga_client.racing.evening import Evening
from saratoga_client.shown import shown
from saratoga_client.trouble import HouseClosed, Hung
from saratoga_client.visit import problem_of
from saratoga_protocol.refusals import TAKEN_OVER

SAFE: Final = "What the house has confirmed is safe."


def trouble_in_words(server: str, trouble: Exception) -> Problem:
    """What came between player and house."""
    match trouble:
        case HouseClosed(code=TAKEN_OVER.code):
            return Problem(
                "You play this seat from another device or window now.",
                f"Go on there; here nothing more is sent. {SAFE}",
                Exit.REFUSED,
            )
        case Hung() | DeskClosed():
            return Problem("The evening at this table is over.", SAFE, Exit.REFUSED)
        case _:
            return problem_of(server, trouble)


def seat_gone(evening: Evening) -> Problem:
    """The seat, or the sight of the table, is gone."""
    code = evening.table.code
    why = evening.gone or shown(evening.table.notice) or "The table is closed."
    own = evening.own
    kept = ""
    if own is not None and own.is_racing:
        kept = f" The {own.view.banked} cards you have banked in race {own.race} stay banked."
    return Problem(
        f"You are no longer at the table {code}: {why}",
        f"To come back, if it is still there: saratoga join {code}.{kept}",
        Exit.REFUSED,
    )
