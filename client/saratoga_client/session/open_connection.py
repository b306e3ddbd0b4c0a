"""Connect to a server; turn every failure into a `Problem` with a remedy for the player."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from saratoga_client.local import identity
from saratoga_client.local.origins import check_address, is_this_machine
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.output import say
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for

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
    except CONNECTION_ERRORS as error:
        raise problem_for(server, error) from error


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
