"""`saratoga challenge GAME|LINK`: open a challenge, or run one."""

import asyncio

import click

from saratoga_client.cli.daily import run_open_race
from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import at_server_of, play_options
from saratoga_client.local.settings import Settings
from saratoga_client.output import write_line
from saratoga_client.session.invitation import Destination, destination, is_open_race
from saratoga_client.session.join import claim_guest_name
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.open_race import link, open_challenge
from saratoga_client.session.run_watch import OpenBook
from saratoga_rules.games import GAMES


@example_command(
    ("saratoga challenge canfield", "open a challenge and print its link"),
    ("saratoga challenge http://192.168.1.7:7470/c/k7m2pqk7m2pqk7m2", "run a friend's challenge"),
)
@click.argument("game_or_link", metavar="GAME|LINK")
@play_options
def command(game_or_link: str, settings: Settings) -> None:
    """Challenge friends: each runs the same deal when they like, within seven days, against the ghosts of earlier runs.

    With a LINK, run a challenge. You are asked before the clock starts.
    """
    if game_or_link.lower() in GAMES:
        asyncio.run(_open(settings, game_or_link.lower()))
        return
    found = destination(game_or_link) or Destination(game_or_link.strip().lower())
    if not is_open_race(found.code):
        raise click.BadParameter(f"{game_or_link!r} is neither a game nor a challenge's link.")
    asyncio.run(run_challenge(at_server_of(found, settings), found.code))


async def _open(settings: Settings, game: str) -> None:
    async with open_connection(settings.server_url, reports_link=False) as connection:
        if connection.welcome.name is None:
            await claim_guest_name(connection, settings.name)
        race = await open_challenge(connection, OpenBook(), game)
        write_line(
            "Your challenge is open for seven days. Send this to your friends, and run it yourself:"
        )
        write_line(f"  {link(race, settings.server_url)}")


async def run_challenge(settings: Settings, race: str) -> None:
    """Run a challenge after a question. Raises `Problem`."""
    async with open_connection(settings.server_url, reports_link=False) as connection:
        await run_open_race(settings, connection, race, asks=True)
