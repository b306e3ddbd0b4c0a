"""The argument GAME of commands: a person at a terminal who omits it chooses from a list."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import click

from saratoga_client.local.printed_command import printed_command
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say
from saratoga_client.wording import listed
from saratoga_rules.games import GAMES

Function = TypeVar("Function", bound=Callable[..., Any])

THE_GAMES: Final = f"The games are {listed(list(GAMES))}."
"""The sentence about all games in the help of commands."""

UP: Final = frozenset({"\x1b[A", "\x1bOA", "\x00H", "\xe0H", "k"})
DOWN: Final = frozenset({"\x1b[B", "\x1bOB", "\x00P", "\xe0P", "j"})
"""What terminals, and the console of Windows, send for the arrow keys; `j` and `k` work too."""

ENTER: Final = frozenset({"\r", "\n"})
LEAVE: Final = frozenset({"\x1b", "q", "\x04"})

_KEY: Final = re.compile(r"\x1b[\[O].|[\x00\xe0].|.", re.DOTALL)


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
    terminal = this_terminal()
    if not terminal.is_terminal:
        example = printed_command(context.info_name or "", next(iter(GAMES)))
        raise click.UsageError(f"Name a game: {', '.join(GAMES)}. For example: {example}")
    return choose(click.getchar, redraws=terminal.redraws)


def choose(read_key: Callable[[], str], *, redraws: bool) -> str:
    """Ask which game until one is chosen by arrow keys and enter, or by its number.

    With `redraws` the list is drawn again in place, with a mark at the chosen game. Raises `click.Abort`.
    """
    names = list(GAMES)
    chosen = 0
    keys = "arrow keys and enter, or a number" if redraws else "type its number"
    say(f"Which game? ({keys}; q quits)")
    _draw(names, chosen, redraws)
    for key in _keys(read_key):
        if key in LEAVE:
            raise click.Abort
        if key.isdecimal() and 0 < int(key) <= len(names):
            return names[int(key) - 1]
        if key in ENTER and redraws:
            return names[chosen]
        step = (key in DOWN) - (key in UP)
        if step and redraws:
            chosen = (chosen + step) % len(names)
            click.echo(f"\x1b[{len(names)}A", nl=False, err=True, color=True)
            _draw(names, chosen, redraws)
    raise click.Abort


def _keys(read_key: Callable[[], str]) -> Iterator[str]:
    """Yield the pressed keys until the input ends; a terminal may send several at once."""
    while pressed := read_key():
        yield from _KEY.findall(pressed)


def _draw(names: list[str], chosen: int, redraws: bool) -> None:
    for place, name in enumerate(names):
        mark = ">" if redraws and place == chosen else " "
        say(f" {mark} {place + 1}  {name:<20}{GAMES[name].title}")
