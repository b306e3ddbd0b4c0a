"""`saratoga join CODE|URL`: take a seat at a table."""

import asyncio

import click

from saratoga_client.cli.frame import ExampleCommand
from saratoga_client.cli.options import TABLE, play_options, server_of
from saratoga_client.cli.play import play_at
from saratoga_client.local.settings import Settings
from saratoga_client.session.invitation import Destination
from saratoga_client.session.open_connection import open_connection


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga join mint-otter-42", "a table at your usual server"),
        ("saratoga join ws://192.168.1.7:7470/mint-otter-42", "the URL of an invitation"),
        ("saratoga join mint-otter-42 --plain", "lines of text, for screen readers and scripts"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@play_options
def command(table: Destination, settings: Settings) -> None:
    """Take a seat at the table CODE, or at the table of an invitation's URL.

    If you have a seat at that table already, you return to it, and a running race continues.
    """
    asyncio.run(_join(settings.given(server=server_of(table, settings.server_url)), table.code))


async def _join(settings: Settings, code: str) -> None:
    async with open_connection(settings.server_url, reports_link=False) as connection:
        await play_at(settings, connection, code)
