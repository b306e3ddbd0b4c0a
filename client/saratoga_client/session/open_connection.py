"""Going to the house from the command line: where it is, and what its silence means.

Turns whatever comes between a program and the house into a `Problem` that tells the player what
to do.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from saratoga_client.local import identity
from saratoga_client.local.key_files import UnusableToken
from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.settings import DEFAULT_SERVER
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import (
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem, refused, too_old, unreachable

PROGRAM: Final = "saratoga"

PATIENT: Final = Timing(first_within=3.0)
"""Whoever sits before a terminal wants to know soon that nobody answers."""

BRISK: Final = Timing(first_within=0.3)
"""On this machine a house is there or it is not."""

SINCE_OLD: Final = (
    "Every house gets a token of its own now. To stay who you were at one that you know, say: "
    "saratoga token use old --at URL."
)
"""To a player of 0.1, once."""


@asynccontextmanager
async def open_connection(
    server: str,
    *,
    token: str = "",
    name: str | None = None,
    bot: bool = False,
    tells: bool = True,
) -> AsyncIterator[Connection]:
    """A connection to the house; raises `Problem` for all that can come between.

    Without a `token`, whoever plays on this machine comes, as the player that this house knows.
    `tells`: say on the error stream when
    the connection is lost and when it is back; not for who is told elsewhere.
    """
    try:
        check_address(server)
        if not token and tells and identity.has_only_old_token(server):
            say(SINCE_OLD)
        async with Connection(
            server,
            token or identity.token_for(server),
            name=name,
            bot=bot,
            client=PROGRAM,
            timing=timing_for(server),
            on_state=_tell() if tells else _nothing_said,
        ) as house:
            yield house
    except (
        CommandRefused,
        ServerClosed,
        Unreachable,
        RequestTimedOut,
        UnexpectedAnswer,
    ) as trouble:
        raise problem_of(server, trouble) from trouble
    except UnusableToken as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from unusable


def timing_for(server: str) -> Timing:
    """How long to wait for that house."""
    return BRISK if is_this_machine(server) else PATIENT


def _tell() -> Callable[[LinkState], None]:
    """Tell the person at the terminal when the connection is lost, and when it is back."""
    lost = False

    def tell(state: LinkState) -> None:
        nonlocal lost
        if state is LinkState.RECONNECTING and not lost:
            lost = True
            say("The connection is lost; trying again ...")
        elif state is LinkState.CONNECTED and lost:
            lost = False
            say("Connected again.")

    return tell


def _nothing_said(_state: LinkState) -> None:
    """For who is told elsewhere."""


def problem_of(server: str, trouble: Exception) -> Problem:
    """What came between, in words."""
    match trouble:
        case CommandRefused(refusal=refusal):
            return refused(refusal)
        case ServerClosed() if trouble.is_of_another_version:
            return too_old(server)
        case ServerClosed(reason=reason):
            return Problem(f"The house has closed the connection: {reason}.", "", Exit.REFUSED)
        case Unreachable(reason=reason):
            return no_server(server, reason)
        case UnexpectedAnswer():
            return too_old(server)
        case _:
            return no_server(server, "it gave no answer in time")


def no_server(server: str, reason: str) -> Problem:
    """Nobody answers there; where nobody said where to go, that is only to be expected."""
    if server.rstrip("/") == DEFAULT_SERVER:
        return Problem(
            f"No house runs on this machine: {reason} ({server}).",
            "To open one, say: saratoga host. To go to another, name it with --server URL "
            "or SARATOGA_SERVER.",
            Exit.UNREACHABLE,
        )
    problem = unreachable(server, reason)
    if "certificate" in reason:
        return Problem(
            problem.what,
            "Is the address right? If the host made the certificate, have it sent to you, and "
            "name its file: SSL_CERT_FILE=cert.pem saratoga ...",
            Exit.UNREACHABLE,
        )
    return problem


def check_address(server: str) -> None:
    """Refuse what is no address of a house; raises `Problem`."""
    try:
        parts = urlsplit(server)
        is_server = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_server = False
    if not is_server:
        raise bad_address(server)


def bad_address(text: str) -> Problem:
    """That leads to no house."""
    return Problem(
        f"{text!r} is not the address of a house.",
        "An address looks like ws://127.0.0.1:7470 or wss://cards.example.org.",
        Exit.USAGE,
    )
