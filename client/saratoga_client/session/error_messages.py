"""What comes between a player and the house, in words: what happened, what to do, what is safe."""

from typing import Final

from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit, Problem
from saratoga_client.sanitised import sanitised
from saratoga_client.session.open_connection import problem_of
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStoreClosed
from saratoga_client.wording import counted
from saratoga_protocol.refusals import BANNED, REASONS, TAKEN_OVER

CONNECTION_ERRORS: Final = (
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    Unreachable,
    UnexpectedAnswer,
    ClientClosed,
)
"""All that can come between a player and the house."""

DOUBTFUL: Final = frozenset({"store_unavailable", "server_fault"})
"""Refusals after which it is not known whether the thing was done all the same."""

SAFE: Final = "What the house has confirmed is safe."

GIVEN_UP: Final = frozenset({REASONS["not_seated"].sentence})
"""What the house says to somebody who comes back too late."""


def problem_for(server: str, trouble: Exception) -> Problem:
    """What came between player and house."""
    match trouble:
        case ServerClosed(code=TAKEN_OVER.code):
            return Problem(
                "You play this seat from another device or window now.",
                f"Go on there; here nothing more is sent. {SAFE}",
                Exit.REFUSED,
            )
        case ServerClosed(code=BANNED.code):
            return Problem(
                "Whoever runs this house has banned you from it.",
                "Ask them why; other houses are not concerned. Finished races stay as they are.",
                Exit.REFUSED,
            )
        case ServerClosed(is_of_another_version=False, reason=reason):
            return Problem(
                f"The house has closed the connection: {sanitised(reason)}.",
                f"Start the program again to come back. {SAFE}",
                Exit.REFUSED,
            )
        case ClientClosed() | StateStoreClosed():
            return Problem("The evening at this table is over.", SAFE, Exit.REFUSED)
        case RequestTimedOut():
            return Problem(
                "The house gave no answer in time.",
                f"It may have been done all the same: look before you do it again. {SAFE}",
                Exit.UNREACHABLE,
            )
        case CommandRefused(code=code) if code in DOUBTFUL:
            return Problem(
                trouble.message,
                f"It may have been done all the same: look before you do it again. {SAFE}",
                Exit.REFUSED,
                code,
            )
        case _:
            return problem_of(server, trouble)


def seat_lost_problem(evening: SessionState, is_watching: bool = False) -> Problem:
    """The seat, or the sight of the table, is gone."""
    code = evening.table.code
    why = evening.gone or sanitised(evening.table.notice) or "The table is closed."
    if is_watching:
        return Problem(
            f"You no longer watch the table {code}: {why}",
            f"To look again, if it is still there: saratoga watch {code}.",
            Exit.REFUSED,
        )
    is_given_up = evening.gone in GIVEN_UP
    if is_given_up:
        why = "you were away too long, and your seat was given up."
    score = "" if evening.own is None else f" {_score(evening.own, is_given_up)}"
    return Problem(
        f"You are no longer at the table {code}: {why}",
        "To come back, if the table is still there and its host wants you: "
        f"saratoga join {code}.{score}",
        Exit.REFUSED,
    )


def _score(own: OwnBoard, is_given_up: bool) -> str:
    """What becomes of one's board."""
    if not own.is_racing:
        return f"Your board in race {own.race} had ended; what you banked counts."
    banked = own.view.banked
    count = "counts" if banked == 1 else "count"
    sentence = f"The {counted(banked)} that you have banked in race {own.race} {count}"
    if not is_given_up:
        sentence += ", unless the table was closed: then the race counts for nobody"
    late = len(own.in_flight)
    if late:
        moves = "your last move was" if late == 1 else f"your last {late} moves were"
        sentence += f". Whether {moves} still made is not known"
    return f"{sentence}."
