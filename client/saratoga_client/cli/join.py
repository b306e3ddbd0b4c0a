"""`saratoga join CODE|URL`: take a seat at a table, and play there until the player leaves.

Everything runs in one event loop over one connection, on the screen or, if the terminal cannot
redraw, in lines of text. Questions and errors before the screen opens appear on the plain terminal.
Only the chosen interface is imported.
"""

import asyncio
from typing import TYPE_CHECKING

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import TABLE, at_server_of, in_lines, play_options, say_kept_name
from saratoga_client.local.printed_command import table_command
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.output import say, write_line
from saratoga_client.plain.session import ask
from saratoga_client.problems import Exit, Problem, alarmed_at_end
from saratoga_client.session.invitation import Destination, Inviter, inviter_for, is_open_race
from saratoga_client.session.join import NAME_REFUSALS, claim_name, look_at, take_seat
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import dollars
from saratoga_protocol import events
from saratoga_protocol.events import TableSettings

if TYPE_CHECKING:
    from saratoga_client.cli.host import OwnServer
    from saratoga_client.plain.session import PlainSession

TAKEN_BY_YOURSELF = (
    "If you took it at another address of this server, or on another device, import your token "
    "from there: saratoga token import --help"
)
"""A hint for a taken name: each address of a server has its own token (`identity`)."""


@example_command(
    ("saratoga join mint-otter-42", "a table at your usual server"),
    ("saratoga join ws://192.168.1.7:7470/mint-otter-42", "the URL of an invitation"),
    ("saratoga join mint-otter-42 --plain", "lines of text, for screen readers and scripts"),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@play_options
def command(table: Destination, settings: Settings) -> None:
    """Take a seat at the table CODE, or at the table of an invitation's URL.

    If you have a seat at that table already, you return to it, and a running race continues.
    """
    if is_open_race(table.code):
        from saratoga_client.cli.open_race import run_challenge

        asyncio.run(run_challenge(at_server_of(table, settings), table.code))
        return
    asyncio.run(_join(at_server_of(table, settings), table.code))


async def _join(settings: Settings, code: str) -> None:
    async with open_connection(settings.server_url, reports_link=False) as connection:
        await play_at(settings, connection, code)


async def play_at(
    settings: Settings,
    connection: Connection,
    table: str | TableSettings,
    *,
    friends: str = "",
    own_server: "OwnServer | None" = None,
) -> None:
    """Join the table of a code, or create a table, and play until the player leaves it.

    Print the invitation to a new table first; `friends` is the server's address for friends.
    `own_server` is given if the server may end with this program. Raises `Problem`,
    `KeyboardInterrupt`.
    """
    lines = None
    if in_lines(settings):
        from saratoga_client.plain.session import open_session

        lines = open_session(friends)
    server = settings.server_url
    remember_server(server)
    session, joined = await _sit_down(settings, connection, table, lines)
    remember_server(server, joined.code)
    if own_server is not None:
        own_server.session, own_server.ask = session, ask if lines is None else lines.ask
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
        await look_at(connection, table)
    is_named = connection.welcome.name is not None
    say_kept_name(connection.welcome.name)
    if lines is None:
        if not is_named:
            await _choose_name(connection, settings.name)
        return await take_seat(connection, table)
    if not is_named:
        from saratoga_client.plain import lobby

        has_name = settings.name and await lobby.take_name(connection, lines, settings.name)
        if not has_name and await lobby.ask_name(connection, lines) is not None:
            raise Problem("You need a name to sit down.", "Give one with --name NAME.", Exit.USAGE)
    return await take_seat(connection, table, lambda text: lines.output.write(f"seat: {text}"))


async def show_table(session: TableSession, settings: Settings, inviter: Inviter) -> None:
    """Show a table on the whole terminal until the player leaves it. Raises `Problem`."""
    from saratoga_client.tui.app import open_screen, table_flow

    await open_screen(table_flow(session, inviter), settings)


def left_race_line(state: SessionState | None) -> str:
    """Return the result of a player who left a running race; empty if no other person is at the table."""
    if state is None or state.own is None or state.phase != "running":
        return ""
    others = (seat for seat in state.table.seats if seat.player != state.player)
    if not any(seat.connected and not seat.bot for seat in others):
        return ""
    return f"Your race ended with {state.own.banked} banked, {dollars(state.own.net)}."


async def _choose_name(connection: Connection, name: str) -> None:
    """Claim a name at this server; ask until one is accepted.

    Raises `Problem`, `CommandRefused`, `click.Abort`.
    """
    question = "Your name at this server"
    while True:
        name = name or await ask(question)
        if not name:
            continue
        try:
            await claim_name(connection, name)
            return
        except CommandRefused as refusal:
            if refusal.code not in NAME_REFUSALS:
                raise
            say(refusal.message)
            if refusal.code == "name_taken":
                say(TAKEN_BY_YOURSELF)
        name, question = "", "Another name"
