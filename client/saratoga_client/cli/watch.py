"""`saratoga watch CODE`: follow a table live, without a seat."""

import asyncio
from contextlib import aclosing

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import TABLE, server_of, viewing_options
from saratoga_client.cli.play import watch_on_screen
from saratoga_client.cli.watch_display import display_for
from saratoga_client.local.settings import Settings
from saratoga_client.output import OutputFormat, output_format, say
from saratoga_client.session.invitation import Destination
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.watcher import watched_states


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga watch mint-otter-42", "the table on the whole screen"),
        ("saratoga watch mint-otter-42 --once", "the standings, until this race is over"),
        ("saratoga watch mint-otter-42 --json | jq .rows", "for programs"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@click.option("--once", is_flag=True, help="Stop when the current race is over.")
@click.option(
    "--json", "as_json", is_flag=True, help="For programs: versioned JSON, one object a line."
)
@viewing_options
def command(table: Destination, once: bool, as_json: bool, settings: Settings) -> None:
    """Follow the table CODE live, without a seat.

    During a race you see what the racers see of each other: places, money and states. When the race
    is over, all boards are open. Press Ctrl-C to stop.
    """
    settings = settings.given(server=server_of(table, settings.server_url))
    form = output_format(as_json=as_json, plain=settings.plain)
    if form is OutputFormat.LIVE and not once:
        asyncio.run(watch_on_screen(settings, table.code))
    else:
        asyncio.run(watch_table(settings.server_url, table.code, once, form))


async def watch_table(server: str, code: str, once: bool, form: OutputFormat) -> None:
    """Show the table until it is closed or, with `once`, its race is over. Raises `Problem`."""
    # Plain output has its own lines for a lost connection.
    async with open_connection(server, reports_link=form is not OutputFormat.PLAIN) as connection:
        with display_for(form, connection.now) as display:
            async with aclosing(watched_states(connection, code)) as states:
                async for state in states:
                    display.show(state)
                    if once and state.table_view.outcome is not None:
                        return
    say(f"The table {code} is closed.")
