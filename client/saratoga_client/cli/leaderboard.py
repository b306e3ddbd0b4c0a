"""`saratoga leaderboard`: the best players of a game."""

import asyncio
from functools import partial
from typing import Any

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import THE_GAMES, game_argument, output_options, server_option
from saratoga_client.local.identity import new_token
from saratoga_client.local.settings import Settings
from saratoga_client.output import OutputFormat, output_format, write_json, write_line
from saratoga_client.plain.result_lines import leaderboard_lines
from saratoga_client.session.open_connection import open_connection
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard


@example_command(
    ("saratoga leaderboard canfield", "the best results of today"),
    ("saratoga leaderboard caprice --period all", "the best results of all time"),
    (
        "saratoga leaderboard lafayette --ranking bankroll --me",
        "the most money, around your rank",
    ),
    ("saratoga leaderboard canfield --bots --watch", "the bots, printed again at every change"),
    help=f"""Show the best players of GAME.

    {THE_GAMES} Only ranked races count: a random deal, a time limit, and at least two people among the
    racers; on some servers only races at public tables. Bots have their own leaderboards, for which two
    racers of any kind are enough.
    """,
)
@game_argument
@click.option(
    "--ranking",
    type=click.Choice(["best", "bankroll", "rating"]),
    default="best",
    show_default=True,
    help="The best single result, the sum of casino dollars, or how strong a player is.",
)
@click.option(
    "--period",
    type=click.Choice(["day", "week", "month", "all"]),
    default="day",
    show_default=True,
    help="The period in which the race started (UTC; weeks begin on Monday).",
)
@click.option("--bots", is_flag=True, help="Show the bots' leaderboard instead of the players'.")
@click.option(
    "--me",
    "around_me",
    is_flag=True,
    help="Show the rows around your rank. Without it the query is anonymous.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Number of rows."
)
@click.option(
    "--watch", is_flag=True, help="Keep running, and print the page again whenever it changes."
)
@output_options
@server_option
def command(watch: bool, as_json: bool, plain: bool, settings: Settings, **question: Any) -> None:
    """Print a page of a leaderboard, with `watch` again whenever it changes."""
    shown_in = output_format(as_json=as_json, plain=plain)
    # An anonymous query uses a random token that is not saved.
    token = "" if question["around_me"] else new_token()
    asking = partial(GetLeaderboard, follow=watch, **question)
    asyncio.run(_show(settings.server_url, token, asking, shown_in))


async def _show(
    server: str, token: str, question: partial[GetLeaderboard], shown_in: OutputFormat
) -> None:
    async with open_connection(server, token=token) as connection:
        page = await connection.ask(question, events.Leaderboard)
        show(page, shown_in)
        if question.keywords["follow"]:
            async for event in connection.events():
                if isinstance(event, events.Leaderboard) and event != page:
                    page = event
                    show(page, shown_in)


def show(page: events.Leaderboard, shown_in: OutputFormat) -> None:
    """Print a page of a leaderboard."""
    if shown_in is OutputFormat.JSON:
        keys = ("game", "ranking", "period", "key", "bots", "total", "offset")
        rows, me = list(map(_row, page.rows)), page.me and _row(page.me)
        fields = {**{key: getattr(page, key) for key in keys}, "rows": rows, "me": me}
        write_json("saratoga.leaderboard.v1", fields)
        return
    for line in leaderboard_lines(page):
        write_line(line)


def _row(row: events.LeaderboardRow) -> dict[str, object]:
    keys = ("rank", "name", "player", "value", "net", "race", "races", "rivals")
    return {
        "doubt": row.doubt,
        **{key: getattr(row, key) for key in keys},
        "elapsed_ms": row.elapsed,
    }
