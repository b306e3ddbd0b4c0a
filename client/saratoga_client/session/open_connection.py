"""Connect to a server; turn every failure into a `Problem` with a remedy for the player."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urljoin, urlsplit

from saratoga_client.local import identity
from saratoga_client.local.key_files import UnusableToken
from saratoga_client.local.origins import WEBSOCKET_SCHEMES, is_this_machine
from saratoga_client.local.printed_command import host_command, table_command
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import (
    CommandRefused,
    Redirected,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem, refused, too_old, unreachable

PROGRAM: Final = "saratoga"

REMOTE_TIMING: Final = Timing(first_within=3.0)
"""Timing for servers on other machines: give up the first connection soon."""

LOCAL_TIMING: Final = Timing(first_within=0.3)
"""Timing for servers on this machine, which answer at once or do not run."""


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
        async with Connection(
            server,
            token or identity.token_for(server),
            name=name,
            bot=bot,
            level=level,
            client=PROGRAM,
            timing=timing_for(server),
            on_state=_link_reporter() if reports_link else _ignore,
        ) as connection:
            yield connection
    except (
        CommandRefused,
        ServerClosed,
        Unreachable,
        RequestTimedOut,
        UnexpectedAnswer,
    ) as error:
        raise problem_of(server, error) from error
    except UnusableToken as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from unusable


def timing_for(server: str) -> Timing:
    """Return the timeouts for the server at an address."""
    return LOCAL_TIMING if is_this_machine(server) else REMOTE_TIMING


def _link_reporter() -> Callable[[LinkState], None]:
    """Return an observer that reports a lost and a restored connection on the error stream."""
    lost = False

    def report(state: LinkState) -> None:
        nonlocal lost
        if state is LinkState.RECONNECTING and not lost:
            lost = True
            say("The connection is lost; reconnecting ...")
        elif state is LinkState.CONNECTED and lost:
            lost = False
            say("Connected again.")

    return report


def _ignore(_state: LinkState) -> None:
    """Do nothing; the screen or the plain lines show the state of the connection."""


def problem_of(server: str, error: Exception) -> Problem:
    """Return the problem for an error of the connection."""
    match error:
        case CommandRefused(refusal=refusal):
            return refused(refusal)
        case ServerClosed() if error.is_of_another_version:
            return too_old(server)
        case ServerClosed(reason=reason):
            return Problem(f"The server has closed the connection: {reason}.", "", Exit.REFUSED)
        case Redirected(location=location):
            return redirected(server, location)
        case Unreachable(reason=reason):
            return no_server(server, reason)
        case UnexpectedAnswer():
            return too_old(server)
        case _:
            return no_server(server, "it did not answer in time")


def no_server(server: str, reason: str) -> Problem:
    """Return a problem: no server answers at an address."""
    if is_this_machine(server):
        return Problem(
            f"No server answers on this machine at {server}: {reason}.",
            "If it ran here, it was closed. --server or SARATOGA_SERVER names another. "
            f"To open it again: {host_command(server)}",
            Exit.UNREACHABLE,
        )
    problem = unreachable(server, reason)
    if "certificate" in reason:
        return Problem(
            problem.what,
            "Check the address. If the host made the certificate, ask for its file and name it: "
            "SSL_CERT_FILE=cert.pem saratoga ...",
            Exit.UNREACHABLE,
        )
    return problem


def redirected(server: str, location: str) -> Problem:
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


def check_address(server: str) -> None:
    """Check that a text is the address of a server; raises `Problem`."""
    try:
        parts = urlsplit(server)
        is_address = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise bad_address(server)


def bad_address(text: str) -> Problem:
    """Return a problem: the text is not the address of a server."""
    return Problem(
        f"{text!r} is not the address of a server.",
        "An address looks like ws://127.0.0.1:7470 or wss://cards.example.org.",
        Exit.USAGE,
    )
