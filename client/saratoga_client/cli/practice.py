"""`saratoga practice GAME`: play alone, offline.

Only the chosen interface is imported, so lines of text do not wait for Textual.
"""

import asyncio

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import game_argument, in_lines, offline_options
from saratoga_client.local.settings import Settings, remember
from saratoga_client.practice.deals import BadSeed, drawn_seed, from_seed
from saratoga_client.problems import Exit, Problem
from saratoga_rules.games import GAMES


@example_command(
    ("saratoga practice klondike", "a random deal"),
    ("saratoga practice caprice --seed k7m2pq", "the same deal as a friend"),
)
@game_argument
@click.option(
    "--seed",
    metavar="TEXT",
    help="A text that selects the deal; the same text always gives the same cards.",
)
@offline_options
def command(game: str, seed: str | None, settings: Settings) -> None:
    """Play GAME alone, with undo, hints and restart, and without a time limit.

    Nothing leaves this machine, and practice does not count for leaderboards. Your best run of the
    same deal is kept, and runs beside you as a ghost.
    """
    remember(game=game)
    seed = seed or drawn_seed()
    try:
        dealt = from_seed(GAMES[game], seed)
    except BadSeed as bad:
        raise Problem(str(bad), "Choose another --seed.", Exit.USAGE) from None
    if in_lines(settings):
        from saratoga_client.plain.practice import run_practice

        asyncio.run(run_practice(GAMES[game], seed))
        return
    from saratoga_client.tui.app import open_screen, practice_flow

    asyncio.run(open_screen(practice_flow(dealt), settings))
