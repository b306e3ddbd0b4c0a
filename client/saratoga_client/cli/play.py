"""Play from the command line, on the screen or, if the terminal cannot redraw, in lines of text.

Everything runs in one event loop over one connection. Questions and errors before the screen opens
appear on the plain terminal. Only the chosen interface is imported.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saratoga_client.cli.options import in_lines
from saratoga_client.cli.prompt import prompt
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.output import say, write_line
from saratoga_client.problems import Exit, Problem, alarmed_at_end
from saratoga_client.session.invitation import Destination, inviter_for, join_command
from saratoga_client.session.join import (
    NAME_REFUSALS,
    TableWanted,
    check_table,
    claim_name,
    take_seat,
)
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import dollars

if TYPE_CHECKING:
    from saratoga_client.cli.own_server import OwnServer
    from saratoga_client.plain.session import PlainSession

TAKEN_BY_YOURSELF = (
    "If you took it at another address of this server, or on another device, import your token from there: "
    "saratoga token import --help"
)
"""A hint for a taken name: each address of a server has its own token (`identity`)."""


async def play_at(
    settings: Settings,
    connection: Connection,
    table: str | TableWanted,
    *,
    friends: str = "",
    own_server: "OwnServer | None" = None,
) -> str:
    """Join the table of a code, or create a table, and play until the player leaves it.

    Print the invitation to a new table first; `friends` is the server's address for friends. `own_server` is
    given if the server may end with this program. Return the table's code. Raises `Problem`,
    `KeyboardInterrupt`.
    """
    if in_lines(settings):
        return await _play_in_lines(settings, connection, table, friends, own_server)
    from saratoga_client.tui.app import open_screen, table_flow

    remember_server(settings.server_url)
    await _check_table(connection, table)
    await ensure_name(connection, settings.name)
    session, joined = await take_seat(connection, table)
    code = joined.code
    if own_server is not None:
        own_server.session = session
    remember_server(settings.server_url, code)
    inviter = await inviter_for(settings, friends)
    if not isinstance(table, str):
        write_line(f"Your table is {code}. Send this to your friends:")
        for line in inviter.lines(joined):
            write_line(line)
    server_stays = own_server is None or not own_server.is_ours
    try:
        await open_screen(table_flow(session, settings.server_url, inviter), settings)
    except KeyboardInterrupt:
        if server_stays:
            _say_what_is_kept(settings, code)
        raise
    if server_stays and (line := left_race_line(session.state, settings.server_url)):
        say(line)
    return code


def left_race_line(state: SessionState | None, server: str) -> str:
    """Return what a player reads after leaving a running race; empty if no other person is at the table."""
    if state is None or state.own is None or state.phase != "running":
        return ""
    others = (seat for seat in state.table.seats if seat.player != state.player)
    if not any(seat.connected and not seat.bot for seat in others):
        return ""
    own, code = state.own, state.table.code
    return (
        f"Your race ended with {own.banked} banked, {dollars(own.net)}. "
        f"To come back for the next race: {join_command(Destination(code, server))}"
    )


async def _play_in_lines(
    settings: Settings,
    connection: Connection,
    table: str | TableWanted,
    friends: str,
    own_server: "OwnServer | None",
) -> str:
    from saratoga_client.plain.session import open_session
    from saratoga_client.plain.table import stay_at_table

    lines = open_session(friends)
    remember_server(settings.server_url)
    await _check_table(connection, table)
    await _ensure_name_in_lines(connection, lines, settings.name)
    session, joined = await take_seat(
        connection, table, lambda text: lines.output.write(f"seat: {text}")
    )
    remember_server(settings.server_url, joined.code)
    if own_server is not None:
        own_server.session = session
    if not isinstance(table, str):
        inviter = await inviter_for(settings, friends)
        lines.output.write(f"invitation: table {joined.code}")
        _write_invitation(lines, inviter.lines(joined))
    with alarmed_at_end(lines.alarms):
        await stay_at_table(session, lines)
    return joined.code


async def _check_table(connection: Connection, table: str | TableWanted) -> None:
    """Report an unknown table before the program asks for a name; raises `CommandRefused`."""
    if isinstance(table, str) and connection.welcome.name is None:
        await check_table(connection, table)


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


def _say_what_is_kept(settings: Settings, code: str) -> None:
    say(f"Your seat at {code} is kept for a minute, and what you banked stays yours.")
    say("To return:")
    say(f"  {join_command(Destination(code, settings.server_url))}")


async def watch_on_screen(settings: Settings, code: str) -> None:
    """Watch a table on the whole terminal until the player leaves. Raises `Problem`."""
    from saratoga_client.tui.app import open_screen, table_flow

    async with open_connection(settings.server_url, reports_link=False) as connection:
        remember_server(settings.server_url)
        session = TableSession(connection)
        await session.watch(code)
        inviter = await inviter_for(settings)
        await open_screen(table_flow(session, settings.server_url, inviter), settings)
