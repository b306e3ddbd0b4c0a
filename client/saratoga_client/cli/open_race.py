"""`saratoga daily [GAME]` and `saratoga challenge GAME|LINK`: open races, which everyone runs on a clock of their own."""

import asyncio
import time

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import at_server_of, in_lines, play_options, say_kept_name
from saratoga_client.local.settings import Settings
from saratoga_client.net.connection import Connection
from saratoga_client.output import say, write_line
from saratoga_client.problems import Exit, Problem, alarmed_at_end
from saratoga_client.session.invitation import Destination, destination, inviter_for, is_open_race
from saratoga_client.session.join import claim_guest_name, release_other_seat
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.open_race import PRACTICE_DAY, day_id, link, open_challenge
from saratoga_client.session.run_watch import OpenBook
from saratoga_rules.games import GAMES


@example_command(
    ("saratoga daily", "today's deal of your game"),
    ("saratoga daily canfield", "today's deal of another game"),
)
@click.argument("game", type=click.Choice(list(GAMES)), metavar="[GAME]", required=False)
@play_options
def daily(game: str | None, settings: Settings) -> None:
    """Run today's deal of GAME: one run of ten minutes, the same deal for everyone who plays here today (UTC).

    After your run you see how it compares; the boards open when the day has closed. Without a
    server this is practice with a deal by date.
    """
    asyncio.run(_daily(settings, game or settings.game))


async def _daily(settings: Settings, game: str) -> None:
    try:
        async with open_connection(settings.server_url, reports_link=False) as connection:
            await run_open_race(settings, connection, day_id(game, connection.now()))
    except Problem as problem:
        if settings.server or problem.code is not Exit.UNREACHABLE:
            raise
        say(PRACTICE_DAY)
        await _practise(settings, game)


async def _practise(settings: Settings, game: str) -> None:
    day = day_id(game, round(time.time() * 1000)).rpartition("/")[2]
    if in_lines(settings):
        from saratoga_client.plain.practice import run_practice

        await run_practice(GAMES[game], day)
        return
    from saratoga_client.practice.deals import from_seed
    from saratoga_client.tui.app import open_screen, practice_flow

    await open_screen(practice_flow(from_seed(GAMES[game], day)), settings)


async def run_open_race(
    settings: Settings, connection: Connection, race: str, *, asks: bool = False
) -> None:
    """Run an open race, or show it after the player's run; a player without a name becomes a guest. Raises `Problem`."""
    if connection.welcome.name is None:
        name = await claim_guest_name(connection, settings.name)
        say(f"You are {name}.")
    say_kept_name(connection.welcome.name)
    await release_other_seat(connection)
    if in_lines(settings):
        from saratoga_client.plain.open_race import run_open
        from saratoga_client.plain.session import open_session

        lines = open_session()
        with alarmed_at_end(lines.alarms):
            await run_open(connection, race, lines)
        return
    from saratoga_client.tui.app import open_screen
    from saratoga_client.tui.screens.open_race import open_flow

    inviter = await inviter_for(settings, "")
    await open_screen(open_flow(connection, race, inviter, asks=asks), settings)


@example_command(
    ("saratoga challenge canfield", "open a challenge and print its link"),
    ("saratoga challenge http://192.168.1.7:7470/c/k7m2pqk7m2pqk7m2", "run a friend's challenge"),
)
@click.argument("game_or_link", metavar="GAME|LINK")
@play_options
def challenge(game_or_link: str, settings: Settings) -> None:
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
