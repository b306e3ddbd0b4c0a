"""`saratoga watch CODE`: follow a table live, without a seat."""

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import TABLE, begin, server_of, viewing_options
from saratoga_client.cli.play import stand_beside
from saratoga_client.local.settings import Settings
from saratoga_client.output import OutputFormat, output_format, say
from saratoga_client.session.invitation import Destination


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga watch mint-otter-42", "the table on the whole screen"),
        ("saratoga watch mint-otter-42 --once", "the standings, until this race is over"),
        ("saratoga watch mint-otter-42 --json | jq .rows", "for programs"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@click.option("--once", is_flag=True, help="Stop when the race that is going on is over.")
@click.option(
    "--json", "as_json", is_flag=True, help="For programs: versioned JSON, one object a line."
)
@viewing_options
def command(table: Destination, once: bool, as_json: bool, settings: Settings) -> None:
    """Follow the table CODE live, without a seat.

    While a race runs you see what the racers see of each other: places, money, states. When it is
    over all boards are open to you too. Ctrl-C stops.
    """
    settings = settings.given(server=server_of(table, settings.server_url))
    shown_in = output_format(as_json=as_json, plain=settings.plain)
    if shown_in is OutputFormat.LIVE and not once:
        stand_beside(settings, table.code)
    else:
        begin(_watch(settings.server_url, table.code, once, shown_in))


async def _watch(server: str, code: str, once: bool, shown_in: OutputFormat) -> None:
    from saratoga_client.cli.watch_display import display_for
    from saratoga_client.session.open_connection import open_connection
    from saratoga_client.session.watcher import pictures

    async with open_connection(server) as house:
        before = None
        with display_for(shown_in) as display:
            async for picture in pictures(house, code):
                display.show(before, picture)
                before = picture
                if once and picture.outcome is not None:
                    return
    say(f"The table {code} is closed.")
