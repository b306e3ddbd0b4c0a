"""The argument GAME of commands: a person at a terminal who omits it is asked."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from saratoga_client.local.printed_command import printed_command
from saratoga_client.local.terminal import this_terminal
from saratoga_client.wording import listed
from saratoga_rules.games import GAMES

Function = TypeVar("Function", bound=Callable[..., Any])

THE_GAMES: Final = f"The games are {listed(list(GAMES))}."
"""The sentence about all games in the help of commands."""


def game_argument(function: Function) -> Function:
    """Add the argument GAME; without it the player is asked, or the usage error names the games."""
    return click.argument(
        "game",
        type=click.Choice(list(GAMES)),
        metavar="[GAME]",
        required=False,
        callback=_given_or_chosen,
    )(function)


def _given_or_chosen(context: click.Context, _param: click.Parameter, given: str | None) -> str:
    if given is not None or context.resilient_parsing:
        return given or ""
    if not this_terminal().is_terminal:
        example = printed_command(context.info_name or "", next(iter(GAMES)))
        raise click.UsageError(f"Name a game: {', '.join(GAMES)}. For example: {example}")
    return str(click.prompt("Which game?", type=click.Choice(list(GAMES)), err=True))
