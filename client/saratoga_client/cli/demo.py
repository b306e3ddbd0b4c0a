"""`saratoga demo`: a whole race between four bots, from the deal to the verified record."""

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import SERVER_VARIABLE, begin
from saratoga_client.output import OutputFormat, output_format
from saratoga_rules.games import GAMES


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga demo", "on a temporary server"),
        ("saratoga demo --game caprice", "another game"),
        ("saratoga demo --server ws://127.0.0.1:7470", "on a running server"),
    ),
)
@click.option("--game", type=click.Choice(list(GAMES)), default="canfield", show_default=True)
@click.option(
    "--server",
    metavar="URL",
    help=f"A running server; {SERVER_VARIABLE} is ignored here.",
)
@click.option(
    "--pace",
    type=click.FloatRange(0.1, 40),
    help="Moves per second.  [default: a race of about 20 seconds]",
)
@click.option("--plain", is_flag=True, help="One fact a line, no colours, nothing that moves.")
def command(game: str, server: str | None, pace: float | None, plain: bool) -> int:
    """Show a whole race between four bots.

    They join one table through real WebSockets, get the identical deal, and race it to the end
    with every move judged; then come the results, the bots' leaderboard, and every check of the
    race's record. Ends with 0 if all of it holds.
    """
    from saratoga_client.cli.demo_race import demonstrate

    shown_in = output_format(as_json=False, plain=plain)
    assert shown_in is not OutputFormat.JSON
    return begin(demonstrate(GAMES[game], server, pace, shown_in))
