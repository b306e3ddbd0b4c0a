"""`saratoga host GAME`: open a table for friends, by default on a server on this machine."""

import asyncio
from contextlib import suppress

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import play_options
from saratoga_client.cli.play import play_at
from saratoga_client.cli.prompt import confirm
from saratoga_client.local.hosting import (
    EVERY_ADDRESS,
    THIS_MACHINE,
    LocalServer,
    friends_address,
    local_server,
)
from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.setting_values import CAPS, FEWEST_SEATS, MOST_SEATS
from saratoga_client.local.settings import Settings, remember_last
from saratoga_client.local.terminal import this_terminal
from saratoga_client.net.connection import Connection
from saratoga_client.output import say
from saratoga_client.session.invitation import Destination, join_command
from saratoga_client.session.join import TableWanted, others_at
from saratoga_client.session.open_connection import check_address, open_connection
from saratoga_client.wording import listed
from saratoga_rules.games import GAMES


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga host canfield", "with a server on this machine, for friends in its network"),
        ("saratoga host caprice --cap 20 --seats 4", "twenty minutes, four seats"),
        ("saratoga host lafayette --server wss://cards.example.org", "at a running server"),
        ("saratoga host canfield --public-url wss://cards.example.org", "... behind a proxy here"),
    ),
)
@click.argument("game", type=click.Choice(list(GAMES)), metavar="[GAME]", required=False)
@click.option(
    "--cap",
    type=click.Choice([str(cap) for cap in CAPS]),
    help="Time limit in minutes; 0 = none (private tables only).  [default: last used]",
)
@click.option(
    "--seats",
    type=click.IntRange(FEWEST_SEATS, MOST_SEATS),
    default=MOST_SEATS,
    show_default=True,
    help="Number of seats.",
)
@click.option("--public", is_flag=True, help="List the table in the server's lobby.")
@click.option(
    "--public-url",
    metavar="URL",
    help="The address by which friends reach the server.  [default: this machine's]",
)
@click.option(
    "-p",
    "--port",
    type=click.IntRange(1, 65535),
    help="Port of a server on this machine.  [default: 7470, or any free port]",
)
@click.option(
    "--listen",
    type=click.Choice([EVERY_ADDRESS, THIS_MACHINE]),
    default=EVERY_ADDRESS,
    show_default=True,
    help="Address at which a server on this machine listens; 127.0.0.1 behind a proxy or tunnel.",
)
@play_options
def command(
    game: str | None,
    cap: str | None,
    seats: int,
    public: bool,
    public_url: str | None,
    port: int | None,
    listen: str,
    settings: Settings,
) -> None:
    """Open a table for GAME and print the invitation; without GAME, for the game hosted last.

    The table is at the server that --server, SARATOGA_SERVER or the settings name. If none is
    named, a server runs on this machine until you leave. Its tables and results are saved for
    the next time.
    """
    settings = settings.given(game=game, cap=None if cap is None else int(cap))
    table = TableWanted(game=settings.game, cap=settings.cap, seats=seats, public=public)
    remember_last(game=table.game, cap=table.cap)
    if public_url is not None:
        check_address(public_url)
    if settings.server:
        check_address(settings.server)
        asyncio.run(_host_there(settings, table, public_url or ""))
    else:
        asyncio.run(_host_here(settings, table, public_url or "", port, listen))


async def _host_there(settings: Settings, table: TableWanted, public_url: str) -> None:
    """Open the table at a running server. Raises `Problem`."""
    friends = public_url or await friends_address(settings.server)
    if is_this_machine(friends):
        say(
            f"{friends} can be reached from this machine only. To let friends in, start the server "
            "with --host 0.0.0.0, or give its address with --public-url."
        )
    async with open_connection(settings.server, reports_link=False) as connection:
        await play_at(settings, connection, table, friends=friends)


async def _host_here(
    settings: Settings, table: TableWanted, public_url: str, port: int | None, listen: str
) -> None:
    """Open the table at a server on this machine; start one if none runs. Raises `Problem`."""
    async with local_server(public_url, port, listen=listen) as server:
        if server.is_ours:
            say("A server runs on this machine now, until you leave.")
        if server.warning:
            say(server.warning)
        here = settings.given(server=server.own)
        async with open_connection(server.own, reports_link=False) as connection:
            code = await play_at(
                here, connection, table, friends=server.friends, is_own_server=server.is_ours
            )
            if server.is_ours:
                await _wait_for_friends(connection, server, code)


async def _wait_for_friends(connection: Connection, server: LocalServer, code: str) -> None:
    """Ask before closing the server while others are at the table; without a terminal close it."""
    others = await others_at(connection, code)
    if not others or not this_terminal().is_terminal:
        return
    verb = "is" if len(others) == 1 else "are"
    say(f"{listed(others)} {verb} still at {code}, on the server of this machine.")
    if await confirm("Close the server now?"):
        return
    say("The server stays open until Ctrl-C. To return, in another window:")
    say(f"  {join_command(Destination(code, server.own))}")
    with suppress(asyncio.CancelledError):
        await asyncio.get_running_loop().create_future()
