"""`saratoga rules GAME`: print the rules of a game from its definition."""

from collections.abc import Iterator

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import THE_GAMES, game_argument
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import OutputFormat, output_format, write_line
from saratoga_client.rules_text import plain_lines, table
from saratoga_client.text import wrapped
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES, prose

WIDTH = 80
HEADINGS = 18
"""Width of the table's headings, in terminal columns."""


@example_command(
    ("saratoga rules canfield", "the casino's game"),
    ("saratoga rules caprice | grep space", "one rule per line, for pipes"),
    help=f"""Print the rules of GAME.

    {THE_GAMES} The text is generated from the rules that the server applies.
    """,
)
@game_argument
@click.option("--plain", is_flag=True, help="One rule per line.")
def command(game: str, plain: bool) -> None:
    """Print the rules of a game."""
    rules = GAMES[game]
    if output_format(as_json=False, plain=plain) is OutputFormat.PLAIN:
        for line in plain_lines(rules):
            write_line(line)
        return
    for line in page(rules, min(WIDTH, this_terminal().columns)):
        write_line(line)


def page(game: Game, width: int) -> Iterator[str]:
    """Return the rules as a page of the given width, by line."""
    yield from (game.title.upper(), "")
    for paragraph in prose(game):
        yield from (*wrapped(paragraph, width), "")
    for heading, rule in table(game):
        first, *more = wrapped(rule, width - HEADINGS)
        yield f"{heading:<{HEADINGS}}{first}"
        yield from (" " * HEADINGS + line for line in more)
