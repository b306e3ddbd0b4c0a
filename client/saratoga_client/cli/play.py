"""Play from the command line, on the screen or, if the terminal cannot redraw, in lines of text.

Everything runs in one event loop over one connection. Questions and errors before the screen opens
appear on the plain terminal. Only the chosen interface is imported.
"""

from typing import TYPE_CHECKING

from saratoga_client.cli.options import in_lines
from saratoga_client.cli.prompt import prompt
from saratoga_client.local.printed_command import table_command
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.output import say, write_line
from saratoga_client.problems import Exit, Problem, alarmed_at_end
from saratoga_client.session.invitation import Inviter, inviter_for
from saratoga_client.session.join import NAME_REFUSALS, check_table, claim_name, take_seat
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import dollars
from saratoga_protocol import events
from saratoga_protocol.events import TableSettings

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
    table: str | TableSettings,
    *,
    friends: str = "",
    own_server: "OwnServer | None" = None,
) -> None:
    """Join the table of a code, or create a table, and play until the player leaves it.

    Print the invitation to a new table first; `friends` is the server's address for friends. `own_server` is
    given if the server may end with this program. Raises `Problem`, `KeyboardInterrupt`.
    """
    lines = _open_lines(friends) if in_lines(settings) else None
    server = settings.server_url
    remember_server(server)
    session, joined = await _sit_down(settings, connection, table, lines)
    remember_server(server, joined.code)
    if own_server is not None:
        own_server.session = session
    inviter = await inviter_for(settings, friends)
    invitation = () if isinstance(table, str) else inviter.lines(joined)
    if lines is not None:
        from saratoga_client.plain.table import stay_at_table

        if invitation:
            lines.output.write(f"invitation: table {joined.code}")
            lines.output.write_all(f"invitation: {line.strip()}" for line in invitation)
        with alarmed_at_end(lines.alarms):
            await stay_at_table(session, lines)
        return
    if invitation:
        write_line(f"Your table is {joined.code}. Send this to your friends:")
        for line in invitation:
            write_line(line)
    back = table_command("join", joined.code, server)
    server_stays = own_server is None or not own_server.is_ours
    try:
        await show_table(session, settings, inviter)
    except KeyboardInterrupt:
        if server_stays:
            say(
                f"Your seat at {joined.code} is kept for a minute, and what you banked stays yours."
            )
            say("To return:")
            say(f"  {back}")
        raise
    if server_stays and (line := left_race_line(session.state)):
        say(f"{line} To come back for the next race: {back}")


async def _sit_down(
    settings: Settings,
    connection: Connection,
    table: str | TableSettings,
    lines: "PlainSession | None",
) -> tuple[TableSession, events.Table]:
    """Claim a name if the player has none, and take a seat. Raises `Problem`, `CommandRefused`."""
    if isinstance(table, str) and connection.welcome.name is None:
        # an unknown table is reported before the question for a name
        await check_table(connection, table)
    if lines is None:
        await ensure_name(connection, settings.name)
        return await take_seat(connection, table)
    await _ensure_name_in_lines(connection, lines, settings.name)
    return await take_seat(connection, table, lambda text: lines.output.write(f"seat: {text}"))


async def show_table(session: TableSession, settings: Settings, inviter: Inviter) -> None:
    """Show a table on the whole terminal until the player leaves it. Raises `Problem`."""
    from saratoga_client.tui.app import open_screen, table_flow

    await open_screen(table_flow(session, settings.server_url, inviter), settings)


def left_race_line(state: SessionState | None) -> str:
    """Return the result of a player who left a running race; empty if no other person is at the table."""
    if state is None or state.own is None or state.phase != "running":
        return ""
    others = (seat for seat in state.table.seats if seat.player != state.player)
    if not any(seat.connected and not seat.bot for seat in others):
        return ""
    return f"Your race ended with {state.own.banked} banked, {dollars(state.own.net)}."


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


def _open_lines(friends: str) -> "PlainSession":
    from saratoga_client.plain.session import open_session

    return open_session(friends)


async def _ensure_name_in_lines(connection: Connection, lines: "PlainSession", wanted: str) -> None:
    from saratoga_client.plain import lobby

    if connection.welcome.name is not None:
        return
    if wanted and await lobby.take_name(connection, lines, wanted):
        return
    if await lobby.ask_name(connection, lines) is not None:
        raise Problem("You need a name to sit down.", "Give one with --name NAME.", Exit.USAGE)
