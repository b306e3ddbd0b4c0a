"""`saratoga join CODE|URL`: sit down at a table."""

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import TABLE, play_options, server_of
from saratoga_client.cli.play import sit_down
from saratoga_client.local.settings import Settings
from saratoga_client.session.invitation import Destination


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga join mint-otter-42", "a table at the house you always go to"),
        ("saratoga join ws://192.168.1.7:7470/mint-otter-42", "as an invitation says it"),
        ("saratoga join mint-otter-42 --plain", "in lines of text, for ears and scripts"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@play_options
def command(table: Destination, settings: Settings) -> None:
    """Sit down at the table CODE, or at the one an invitation's URL leads to.

    If you have a seat there already you come back to it; a race goes on where you left it.
    """
    sit_down(settings.given(server=server_of(table, settings.server_url)), table.code)
