"""Connect to a server, and messages to the player for errors and for a lost seat: what happened, and a remedy."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from saratoga_client.local import identity
from saratoga_client.local.origins import WEBSOCKET_SCHEMES, check_address, is_this_machine
from saratoga_client.local.printed_command import host_command, table_command
from saratoga_client.net.connection import SEAT_EXPIRED, Connection, LinkState, Timing
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    Redirected,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem, told_alarms
from saratoga_client.wording import counted
from saratoga_protocol.refusals import BANNED, TAKEN_OVER, WRONG_SUBPROTOCOL

if TYPE_CHECKING:
    from saratoga_client.session.state import SessionState

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


_NOT_FOUND: Final = frozenset({"no_such_table", "no_such_race", "table_closed"})


def problem_for(server: str, error: Exception) -> Problem:
    """Return the message for an error of the connection to the server at an address."""
    match error:
        case CommandRefused(code=code) if code in UNCERTAIN_REFUSALS:
            return Problem(error.message, IN_DOUBT, Exit.REFUSED, code)
        case CommandRefused(code=code):
            exit_code = Exit.NOT_FOUND if code in _NOT_FOUND else Exit.REFUSED
            remedy = "Try again later." if error.retry else ""
            return Problem(error.message, remedy, exit_code, code)
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
        case ServerClosed(code=WRONG_SUBPROTOCOL.code) | UnexpectedAnswer():
            return Problem(
                f"The server at {server} speaks another version of the protocol.",
                "Update this program: install it again from where you got it.",
                Exit.TOO_OLD,
            )
        case ServerClosed(reason=reason):
            return Problem(
                f"The server closed the connection: {reason}.",
                f"Start the program again to come back. {SAFE}",
                Exit.REFUSED,
            )
        case Redirected(location=location):
            return _redirected(server, location)
        case Unreachable(reason=reason):
            return _unreachable(server, reason)
        case RequestTimedOut():
            return Problem("The server did not answer in time.", IN_DOUBT, Exit.UNREACHABLE)
        case _:
            return Problem("You are no longer at this table.", SAFE, Exit.REFUSED)


def _unreachable(server: str, reason: str) -> Problem:
    what = f"Can't reach the server at {server}: {reason}."
    if is_this_machine(server):
        what = f"No server answers on this machine at {server}: {reason}."
        remedy = (
            "If it ran here, it was closed. --server or SARATOGA_SERVER names another. "
            f"To open it again: {host_command(server)}"
        )
    elif server.startswith("wss:") and "in time" in reason:
        remedy = "If that server has no certificate, its address begins with ws:// and not wss://."
    elif "certificate" in reason:
        remedy = (
            "Check the address. If the host made the certificate, ask for its file and name it: "
            "SSL_CERT_FILE=cert.pem saratoga ..."
        )
    else:
        remedy = (
            "Is it running, and is the address right? --server or SARATOGA_SERVER names another."
        )
    return Problem(what, remedy, Exit.UNREACHABLE)


def _redirected(server: str, location: str) -> Problem:
    """Return a problem: the server answers with an HTTP redirect, which is not followed."""
    try:
        parts = urlsplit(urljoin(server, location))
        scheme = WEBSOCKET_SCHEMES.get(parts.scheme, "")
        # Without a user name in front of the host, which would make the address look like another.
        target = f"{scheme}://{parts.netloc.rpartition('@')[2].lower()}{parts.path.rstrip('/')}"
        check_address(target)
    except (ValueError, Problem):
        return Problem(
            f"The server at {server} sends you to another address, which is not a server's.",
            "This program follows no redirect. Ask the host for the server's address.",
            Exit.REFUSED,
        )
    return Problem(
        f"The server at {server} sends you to {target}.",
        "This program follows no redirect, so nothing was sent there. If you trust that server: "
        f"{table_command('join', 'CODE', target)}, or any command with --server {target}",
        Exit.REFUSED,
    )


def seat_lost_problem(state: "SessionState", is_watching: bool = False) -> Problem:
    """Return the message for a lost seat, or for a table that can't be watched any longer."""
    code = state.table.code
    reason = state.seat_lost or state.table.notice or "The table is closed."
    if is_watching:
        return Problem(
            f"You no longer watch table {code}: {reason}",
            f"To try again: {table_command('watch', code, state.server)}",
            Exit.REFUSED,
        )
    return Problem(
        f"You are no longer at table {code}: {reason}",
        f"{_score_sentence(state)}To sit down again, if the table is open and the host allows it: "
        f"{table_command('join', code, state.server)}",
        Exit.REFUSED,
    )


def with_alarms(problem: Problem, alarms: Sequence[str]) -> Problem:
    """Return the message with the alarms about the races that disappeared with the seat or the table, if any."""
    if not alarms:
        return problem
    what = " ".join([problem.what, *told_alarms(alarms)])
    return Problem(what, problem.remedy, Exit.NOT_VERIFIED, problem.refusal, problem.said)


def _score_sentence(state: "SessionState") -> str:
    """Return which banked cards and moves of the player count, with a space behind it; empty without a board."""
    own, ended = state.own, state.table.previous
    if own is None:
        return ""
    if ended is not None and ended.race == own.race and ended.reason:
        return f"Race {own.race} was voided, so it counts for nothing. "
    if not own.is_racing:
        return f"Your board in race {own.race} had ended; what you banked counts. "
    banked, moves = own.view.banked, len(own.in_flight)
    count = "counts" if banked == 1 else "count"
    sentence = f"The {counted(banked)} that you banked in race {own.race} {count}"
    if state.seat_lost != SEAT_EXPIRED:
        sentence += ", unless the table was closed: then the race does not count"
    if moves:
        last = "your last move was" if moves == 1 else f"your last {moves} moves were"
        sentence += f". The server did not say whether {last} made"
    return f"{sentence}. "


WITHIN_REMOTE: Final = 3.0
"""Seconds until the first connection to a server on another machine is given up."""

WITHIN_LOCAL: Final = 0.3
"""The same for a server on this machine, which answers at once or does not run."""


@asynccontextmanager
async def open_connection(
    server: str,
    *,
    token: str = "",
    name: str | None = None,
    bot: bool = False,
    level: str = "",
    reports_link: bool = True,
) -> AsyncIterator[Connection]:
    """Return a context manager that connects to a server. Raises `Problem` for every failure.

    Without a `token` the connection belongs to the player of this machine. With `reports_link`, a
    lost and a restored connection are reported on the error stream.
    """
    try:
        check_address(server)
        within = WITHIN_LOCAL if is_this_machine(server) else WITHIN_REMOTE
        async with Connection(
            server,
            token or identity.token_for(server),
            name=name,
            bot=bot,
            level=level,
            timing=Timing(first_within=within),
        ) as connection:
            if reports_link:
                connection.subscribe(_report_link)
            yield connection
    except CONNECTION_ERRORS as error:
        raise problem_for(server, error) from error


def _report_link(state: LinkState) -> None:
    """Report a lost and a restored connection on the error stream."""
    if state is LinkState.RECONNECTING:
        say("The connection is lost; reconnecting ...")
    elif state is LinkState.CONNECTED:
        say("Connected again.")
