"""`saratoga watch CODE`: follow a table live, without a seat."""

import click

from saratoga_client.commands.group import ExampleCommand
from saratoga_client.commands.options import TABLE, begin, house_of, manner_options, server_option
from saratoga_client.invitation import Destination
from saratoga_client.output import Manner, manner, say


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga watch mint-otter-42", "the standings, live"),
        ("saratoga watch mint-otter-42 --once", "... until this race is over"),
        ("saratoga watch mint-otter-42 --json | jq .rows", "for programs"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@click.option("--once", is_flag=True, help="Stop when the race that is going on is over.")
@manner_options
@server_option
def command(table: Destination, once: bool, as_json: bool, plain: bool, server: str) -> None:
    """Follow the table CODE live, without a seat.

    While a race runs you see what the racers see of each other: places, money, states. Ctrl-C
    stops.
    """
    begin(_watch(house_of(table, server), table.code, once, manner(as_json=as_json, plain=plain)))


async def _watch(server: str, code: str, once: bool, shown_in: Manner) -> None:
    from saratoga_client.displays import display_for
    from saratoga_client.visit import visiting
    from saratoga_client.watching import pictures

    async with visiting(server) as house:
        before = None
        with display_for(shown_in) as display:
            async for picture in pictures(house, code):
                display.show(before, picture)
                before = picture
                if once and picture.outcome is not None:
                    return
    say(f"The table {code} is closed.")
