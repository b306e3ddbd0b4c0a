"""Play from the command line, on the screen or, if the terminal cannot redraw, in lines of text.

Everything runs in one event loop over one connection. Questions and errors before the screen opens
appear on the plain terminal. Only the chosen interface is imported.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saratoga_client.cli.options import in_lines
from saratoga_client.cli.prompt import prompt
from saratoga_client.local.settings import Settings
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.output import say, write_line
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import Destination, invitation_to, join_command
from saratoga_client.session.join import (
    NAME_REFUSALS,
    TableWanted,
    claim_name,
    take_seat,
)
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.table_session import TableSession

if TYPE_CHECKING:
    from saratoga_client.plain.session import PlainSession

TAKEN_BY_YOURSELF = (
    "If you took it at another address of this server, see: saratoga token use --help"
)
"""A hint for a taken name: each address of a server has its own token (`identity`)."""


async def play_at(
    settings: Settings,
    connection: Connection,
    table: str | TableWanted,
    *,
    friends: str = "",
    is_own_server: bool = False,
) -> str:
    """Join the table of a code, or create a table, and play until the player leaves it.

    Print the invitation to a new table first; `friends` is the server's address for friends. With
    `is_own_server` the server ends with this program. Return the table's code. Raises `Problem`,
    `KeyboardInterrupt`.
    """
    if in_lines(settings):
        return await _play_in_lines(settings, connection, table, friends)
    from saratoga_client.tui.flows import open_screen, table_flow

    await ensure_name(connection, settings.name)
    session, joined = await take_seat(connection, table)
    code = joined.code
    lines = await invitation_to(joined, settings, friends)
    if not isinstance(table, str):
        write_line(f"Your table is {code}. Friends type:")
        for line in lines:
            write_line(line)
    try:
        await open_screen(table_flow(session, settings.server_url, lines), settings)
    except KeyboardInterrupt:
        _say_what_is_kept(settings, code, is_own_server=is_own_server)
        raise
    return code


async def _play_in_lines(
    settings: Settings, connection: Connection, table: str | TableWanted, friends: str
) -> str:
    from saratoga_client.plain.session import open_session
    from saratoga_client.plain.table import stay_at_table

    lines = open_session()
    await _ensure_name_in_lines(connection, lines, settings.name)
    session, joined = await take_seat(
        connection, table, lambda text: lines.output.write(f"seat: {text}")
    )
    if not isinstance(table, str):
        lines.output.write(f"invitation: table {joined.code}")
        _write_invitation(lines, await invitation_to(joined, settings, friends))
    await stay_at_table(session, lines)
    return joined.code


def _write_invitation(lines: "PlainSession", invitation: Sequence[str]) -> None:
    lines.output.write_all(f"invitation: {line.strip()}" for line in invitation)


async def ensure_name(connection: Connection, wanted: str) -> None:
    """Claim the wanted name if the player has none at this server; ask until one is accepted.

    Raises `Problem`, `CommandRefused`, `click.Abort`.
    """
    if connection.welcome.name is not None:
        return
    name, question = wanted, "Your name at this server"
    while True:
        name = name or await prompt(question)
        try:
            await claim_name(connection, name)
        except CommandRefused as refusal:
            if refusal.code not in NAME_REFUSALS:
                raise
            say(refusal.message)
            if refusal.code == "name_taken":
                say(TAKEN_BY_YOURSELF)
            name, question = "", "Another name"
        else:
            return


async def _ensure_name_in_lines(connection: Connection, lines: "PlainSession", wanted: str) -> None:
    from saratoga_client.plain import lobby

    if connection.welcome.name is not None:
        return
    if wanted and await lobby.claim_name(connection, lines, wanted):
        return
    if await lobby.ask_name(connection, lines) is not None:
        raise Problem("You need a name to sit down.", "Give one with --name NAME.", Exit.USAGE)


def _say_what_is_kept(settings: Settings, code: str, *, is_own_server: bool) -> None:
    if is_own_server:
        say("The server on this machine stops now; banked cards are kept. To start it again:")
        say("  saratoga host")
        return
    say(f"Your seat at {code} is kept for a minute, and what you banked stays yours.")
    say("To return:")
    say(f"  {join_command(Destination(code, settings.server_url))}")


async def watch_on_screen(settings: Settings, code: str) -> None:
    """Watch a table on the whole terminal until the player leaves. Raises `Problem`."""
    from saratoga_client.tui.flows import open_screen, table_flow

    async with open_connection(settings.server_url, reports_link=False) as connection:
        session = TableSession(connection)
        await session.watch(code)
        await open_screen(table_flow(session, settings.server_url), settings)
