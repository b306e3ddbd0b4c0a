"""Connect to a server; turn every failure into a `Problem` with a remedy for the player."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from saratoga_client.local import identity
from saratoga_client.local.origins import check_address, is_this_machine
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.output import say
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for

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
