"""Options that several commands share."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from saratoga_client.local.printed_command import printed_command
from saratoga_client.local.settings import SUITS, THEMES, Settings, every_game, load
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say
from saratoga_client.session.invitation import Destination, destination
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


def _destination(text: str) -> Destination:
    found = destination(text)
    if found is None or not found.code:
        raise click.BadParameter(
            f"{text!r} names no table. A code looks like mint-otter-42, "
            "a URL like ws://192.168.1.7:7470/mint-otter-42."
        )
    return found


TABLE: Final = click.types.FuncParamType(_destination)
"""The type of a parameter: a table's code, an invitation's URL, or a pasted invitation."""


def _switch(name: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}/--no-{name}", default=None, help=help_text)


_OPTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "server": click.option(
        "--server",
        metavar="URL",
        help="The server's address; SARATOGA_SERVER and config.toml can set it too.",
    ),
    "name": click.option("--name", help="Your name at a server that does not know you yet."),
    "plain": _switch("plain", "Lines of text instead of the screen, one fact per line."),
    "ascii": _switch("ascii", "Use ASCII characters only, with letters for suits."),
    "theme": click.option("--theme", type=click.Choice(THEMES), help="The colour theme."),
    "suits": click.option(
        "--suits",
        type=click.Choice(SUITS),
        callback=lambda _context, _option, suits: suits and every_game(suits),
        help="Number of suit colours in every game.",
    ),
    "background": _switch("background", "Paint a background, or show the terminal's own."),
    "quick": _switch("quick", "Play at once when a key allows only one move."),
}
"""The options for playing, by the name of the setting that each one changes."""


def all_options(command: Function) -> Function:
    """Add all options for playing, each with the default `None`."""
    for option in reversed(list(_OPTIONS.values())):
        command = option(command)
    return command


def settings_options(*keys: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that adds options for playing, by the names of their settings.

    The command gets all settings as one `settings`; the environment and the settings file are the
    defaults.
    """

    def decorated(command: Callable[..., Any]) -> Any:
        @functools.wraps(command)
        def with_settings(*args: object, **given: Any) -> object:
            flags = {key: given.pop(key) for key in keys}
            return command(*args, settings=load().given(**flags), **given)

        for key in reversed(keys):
            with_settings = _OPTIONS[key](with_settings)
        return with_settings

    return decorated


play_options: Final = settings_options(*_OPTIONS)
viewing_options: Final = settings_options(*(key for key in _OPTIONS if key != "name"))
"""The options for commands that only watch."""
offline_options: Final = settings_options(*(k for k in _OPTIONS if k not in ("server", "name")))
server_option: Final = settings_options("server")


def say_kept_name(kept: str | None) -> None:
    """Say that a name given with `--name` is not taken, because the server knows the player by another."""
    given = click.get_current_context().params.get("name")
    if given and kept and given != kept:
        say(
            f"This server knows you as {kept}, so --name {given} changes nothing. To change your "
            "name, press n at home, or type name and the name in lines of text."
        )


def at_server_of(table: Destination, settings: Settings) -> Settings:
    """Return the settings with the server of a table; raise an error if a URL and `--server` differ."""
    context = click.get_current_context()
    is_said = context.get_parameter_source("server") is click.core.ParameterSource.COMMANDLINE
    if table.server and is_said and settings.server_url.rstrip("/") != table.server:
        raise click.UsageError(
            f"The URL leads to {table.server}, and --server to {settings.server_url}."
        )
    return settings.given(server=table.server or settings.server_url)


def output_options(function: Function) -> Function:
    """Add `--json` and `--plain`."""
    function = click.option(
        "--plain", is_flag=True, help="One fact per line, no colours, nothing that moves."
    )(function)
    return click.option(
        "--json", "as_json", is_flag=True, help="Versioned JSON for programs, one object per line."
    )(function)


def in_lines(settings: Settings) -> bool:
    """Return whether to play in lines of text; print the reason if the terminal requires it."""
    terminal = this_terminal()
    if terminal.is_terminal and terminal.why_plain and not settings.plain:
        say(f"Playing in lines of text: {terminal.why_plain}.")
    return settings.plain or bool(terminal.why_plain)
