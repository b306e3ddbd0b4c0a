"""`saratoga rules GAME`: how a game is played, from the page that the judge reads."""

from collections.abc import Iterator
from textwrap import wrap

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import OutputFormat, output_format, write_line
from saratoga_client.rules_text import plain_lines, prose, table
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

WIDTH = 80
HEADINGS = 18
"""Cells for the headings of the table."""


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga rules canfield", "the casino's game"),
        ("saratoga rules caprice | grep space", "in lines, for pipes"),
    ),
)
@click.argument("game", type=click.Choice(list(GAMES)), metavar="GAME")
@click.option("--plain", is_flag=True, help="One rule a line, and no pager.")
def command(game: str, plain: bool) -> None:
    """How GAME is played: canfield, canfield-aisleriot, lafayette, lady-palk or caprice.

    It is written from the rules that the judge applies, so it cannot say anything else.
    """
    rules = GAMES[game]
    if output_format(as_json=False, plain=plain) is OutputFormat.PLAIN:
        for line in plain_lines(rules):
            write_line(line)
        return
    terminal = this_terminal()
    lines = list(page(rules, min(WIDTH, terminal.columns)))
    if len(lines) < terminal.rows:
        for line in lines:
            write_line(line)
    else:
        click.echo_via_pager("\n".join(lines) + "\n")


def page(game: Game, width: int) -> Iterator[str]:
    """The rules for people who read a page."""
    yield from (game.title.upper(), "")
    for paragraph in prose(game):
        yield from (*wrap(paragraph, width), "")
    for heading, rule in table(game):
        first, *more = wrap(rule, width - HEADINGS)
        yield f"{heading:<{HEADINGS}}{first}"
        yield from (" " * HEADINGS + line for line in more)
