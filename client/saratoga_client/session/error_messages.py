"""Messages to the player for errors of the connection and for a lost seat."""

from collections.abc import Sequence
from typing import Final

from saratoga_client.local.printed_command import table_command
from saratoga_client.net.connection import SEAT_EXPIRED
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit, Problem, told_alarms
from saratoga_client.session.open_connection import problem_of
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStoreClosed
from saratoga_client.wording import counted
from saratoga_protocol.refusals import BANNED, TAKEN_OVER

CONNECTION_ERRORS: Final = (
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    Unreachable,
    UnexpectedAnswer,
    ClientClosed,
)
"""Every error that a request on a connection may raise."""

UNCERTAIN_REFUSALS: Final = frozenset({"store_unavailable", "server_fault"})
"""Codes of refusals after which the server may have carried out the command nevertheless."""

SAFE: Final = "Everything that the server has confirmed is safe."

IN_DOUBT: Final = f"Check whether your command was carried out before you try again. {SAFE}"


def problem_for(server: str, error: Exception) -> Problem:
    """Return the message for an error of the connection."""
    match error:
        case ServerClosed(code=TAKEN_OVER.code):
            return Problem(
                "You are playing this seat on another device or window.",
                f"This window is disconnected; continue there. {SAFE}",
                Exit.REFUSED,
            )
        case ServerClosed(code=BANNED.code):
            return Problem(
                "The operator of this server has banned you.",
                "Ask the operator for the reason. Your finished races still count.",
                Exit.REFUSED,
            )
        case ServerClosed(is_of_another_version=False, reason=reason):
            return Problem(
                f"The server closed the connection: {reason}.",
                f"Start the program again to come back. {SAFE}",
                Exit.REFUSED,
            )
        case ClientClosed() | StateStoreClosed():
            return Problem("You are no longer at this table.", SAFE, Exit.REFUSED)
        case RequestTimedOut():
            return Problem("The server did not answer in time.", IN_DOUBT, Exit.UNREACHABLE)
        case CommandRefused(code=code) if code in UNCERTAIN_REFUSALS:
            return Problem(error.message, IN_DOUBT, Exit.REFUSED, code)
        case _:
            return problem_of(server, error)


def seat_lost_problem(state: SessionState, is_watching: bool = False) -> Problem:
    """Return the message for a lost seat, or for a table that can't be watched any longer."""
    code = state.table.code
    reason = state.seat_lost or state.table.notice or "The table is closed."
    if is_watching:
        return Problem(
            f"You no longer watch table {code}: {reason}",
            f"To try again: {table_command('watch', code, state.server)}",
            Exit.REFUSED,
        )
    is_expired = state.seat_lost == SEAT_EXPIRED
    own = state.own
    if own is None:
        score = ""
    elif (ended := state.table.previous) is not None and ended.race == own.race and ended.reason:
        score = f"Race {own.race} was voided, so it counts for nothing. "
    else:
        score = f"{_score_sentence(own, is_expired)} "
    return Problem(
        f"You are no longer at table {code}: {reason}",
        f"{score}To sit down again, if the table is open and the host allows it: "
        f"{table_command('join', code, state.server)}",
        Exit.REFUSED,
    )


def with_alarms(problem: Problem, alarms: Sequence[str]) -> Problem:
    """Return the message with the alarms about the races that disappeared with the seat or the table, if any."""
    if not alarms:
        return problem
    what = " ".join([problem.what, *told_alarms(alarms)])
    return Problem(what, problem.remedy, Exit.NOT_VERIFIED, problem.refusal, problem.said)


def _score_sentence(own: OwnBoard, is_expired: bool) -> str:
    """Return sentences that say which banked cards and moves of the player count."""
    if not own.is_racing:
        return f"Your board in race {own.race} had ended; what you banked counts."
    banked = own.view.banked
    count = "counts" if banked == 1 else "count"
    sentence = f"The {counted(banked)} that you banked in race {own.race} {count}"
    if not is_expired:
        sentence += ", unless the table was closed: then the race does not count"
    unanswered = len(own.in_flight)
    if unanswered:
        moves = "your last move was" if unanswered == 1 else f"your last {unanswered} moves were"
        sentence += f". The server did not say whether {moves} made"
    return f"{sentence}."
