"""`saratoga practice GAME`: by oneself, offline."""

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import begin, in_lines, offline_options
from saratoga_client.local.settings import Settings, remember_last
from saratoga_client.problems import Exit, Problem
from saratoga_rules.games import GAMES


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga practice canfield", "some deal or other"),
        ("saratoga practice caprice --seed k7m2pq", "the deal that a friend told you"),
        ("saratoga practice lafayette --seed k7m2pq --ghost", "beside your own best run of it"),
    ),
)
@click.argument("game", type=click.Choice(list(GAMES)), metavar="GAME")
@click.option("--seed", metavar="TEXT", help="The same text gives everybody the same cards.")
@click.option("--ghost", is_flag=True, help="Show how far your best run of this deal was by now.")
@offline_options
def command(game: str, seed: str | None, ghost: bool, settings: Settings) -> None:
    """Play GAME by yourself: undo, hints and restart, no clock and no money that counts.

    Nothing leaves this machine, and no practice is on a leaderboard.
    """
    from saratoga_client.practice.deals import BadSeed

    remember_last(game=game)
    try:
        _practise(game, seed or "", ghost, settings)
    except BadSeed as bad:
        raise Problem(str(bad), "Say another --seed.", Exit.USAGE) from None


def _practise(game: str, seed: str, ghost: bool, settings: Settings) -> None:
    if in_lines(settings):
        from saratoga_client.plain.practice import run_practice

        begin(run_practice(GAMES[game], seed, with_ghost=ghost))
        return
    from saratoga_client.practice.deals import from_seed
    from saratoga_client.practice.practice_session import drawn_seed
    from saratoga_client.tui.flows import open_screen, practice_flow

    dealt = from_seed(GAMES[game], seed or drawn_seed())
    begin(open_screen(practice_flow(dealt, with_ghost=ghost), settings))
