"""`saratoga rules GAME`: how a game is played, from the page that the judge reads."""

from collections.abc import Iterator
from importlib import import_module
from textwrap import wrap

import click

from saratoga_client.commands.group import ExampleCommand
from saratoga_client.output import Manner, manner, write_line
from saratoga_client.terminal import this_terminal
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.money import CARD_PRIZE, PACK_PRICE

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
    if manner(as_json=False, plain=plain) is Manner.PLAIN:
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


def plain_lines(game: Game) -> Iterator[str]:
    """The rules for pipes and ears: one a line."""
    yield f"game: {game.title}"
    for paragraph in prose(game):
        yield f"about: {paragraph}"
    for heading, rule in table(game):
        yield f"{heading}: {rule}"


def prose(game: Game) -> tuple[str, ...]:
    """What stands at the head of the game's own page, a paragraph each."""
    told = import_module(f"saratoga_rules.games.{game.name.replace('-', '_')}").__doc__ or ""
    return tuple(
        " ".join(paragraph.split()) for paragraph in told.split("\n\n") if paragraph.strip()
    )


def table(game: Game) -> tuple[tuple[str, str], ...]:
    """Every rule with its heading, and what a race pays."""
    price = game.packs * PACK_PRICE
    even = price // CARD_PRIZE
    return (
        *game.describe(),
        ("money", f"${price} for the cards, ${CARD_PRIZE} back for each banked; even at {even}"),
        ("a race", "most money, then who reached it first; undo only in practice"),
    )
