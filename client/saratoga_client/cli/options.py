"""Options that several commands share."""

import functools
import re
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
from saratoga_rules.records import record

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


SERVER_VARIABLE: Final = "SARATOGA_SERVER"


class PatternParam(click.ParamType[str]):
    """A command-line parameter that matches a pattern, ignoring case and surrounding spaces."""

    def __init__(self, name: str, pattern: str, example: str) -> None:
        self.name = name
        self._pattern = re.compile(pattern)
        self._example = example

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = value.strip().lower()
        if not self._pattern.fullmatch(word):
            self.fail(f"{value!r} does not look like {self._example}.", param, ctx)
        return word


RACE_ID: Final = PatternParam("race", record.RACE_ID, "mint-otter-42/3")


class TableParam(click.ParamType[Destination]):
    """A command-line parameter: a table's code, an invitation's URL, or a pasted invitation."""

    name = "table"

    def convert(
        self, value: str | Destination, param: click.Parameter | None, ctx: click.Context | None
    ) -> Destination:
        if isinstance(value, Destination):
            return value
        found = destination(value)
        if found is None or not found.code:
            self.fail(
                f"{value!r} names no table. A code looks like mint-otter-42, "
                "a URL like ws://192.168.1.7:7470/mint-otter-42.",
                param,
                ctx,
            )
        return found


TABLE: Final = TableParam()


def _named_server() -> str:

    return load().server_url


def server_option(function: Function) -> Function:
    """Add `--server`; the environment, the settings or this machine are the defaults."""
    return click.option(
        "--server",
        metavar="URL",
        envvar=SERVER_VARIABLE,
        default=_named_server,
        show_default="ws://127.0.0.1:7470",
        help=f"The server's address; {SERVER_VARIABLE} and config.toml can set it too.",
    )(function)


def server_of(table: Destination, server: str) -> str:
    """Return the server of a table; raise an error if a URL and `--server` differ."""
    if not table.server:
        return server
    context = click.get_current_context()
    is_said = context.get_parameter_source("server") is click.core.ParameterSource.COMMANDLINE
    if is_said and server.rstrip("/") != table.server:
        raise click.UsageError(f"The URL leads to {table.server}, and --server to {server}.")
    return table.server


_OPTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "server": click.option(
        "--server",
        metavar="URL",
        help=f"The server's address; {SERVER_VARIABLE} and config.toml can set it too.",
    ),
    "name": click.option("--name", help="Your name at a server that does not know you yet."),
    "plain": click.option(
        "--plain/--no-plain",
        default=None,
        help="Lines of text instead of the screen, one fact per line.",
    ),
    "ascii": click.option(
        "--ascii/--no-ascii",
        default=None,
        help="Use ASCII characters only, with letters for suits.",
    ),
    "theme": click.option("--theme", type=click.Choice(THEMES), help="The colour theme."),
    "suits": click.option(
        "--suits", type=click.Choice(SUITS), help="Number of suit colours in every game."
    ),
    "background": click.option(
        "--background/--no-background",
        default=None,
        help="Paint a background, or show the terminal's own.",
    ),
    "quick": click.option(
        "--quick/--no-quick", default=None, help="Play at once when a key allows only one move."
    ),
}
"""The options for playing, by the name of the setting that each one changes."""


def play_options(command: Function) -> Function:
    """Add all options for playing; the command gets them as one `settings`.

    The environment and the settings file are the defaults.
    """
    return _with_options(command, tuple(_OPTIONS))


def viewing_options(command: Function) -> Function:
    """Add the options for playing except `--name`, for commands that only watch."""
    return _with_options(command, tuple(key for key in _OPTIONS if key != "name"))


def offline_options(command: Function) -> Function:
    """Add the options for playing except `--server` and `--name`, for offline commands."""
    return _with_options(command, tuple(key for key in _OPTIONS if key not in ("server", "name")))


def lobby_options(command: Function) -> Function:
    """Add all options for playing; the command gets the given ones as one `flags`, for `Settings.given`."""
    decorated: Function = _with_flags(command, tuple(_OPTIONS))
    return decorated


def _with_options(command: Function, keys: tuple[str, ...]) -> Function:
    @functools.wraps(command)
    def with_settings(*args: object, flags: Mapping[str, object], **given: Any) -> object:
        return command(*args, settings=load().given(**flags), **given)

    decorated: Function = _with_flags(with_settings, keys)
    return decorated


def _with_flags(command: Callable[..., Any], keys: tuple[str, ...]) -> Any:
    @functools.wraps(command)
    def with_flags(*args: object, **given: Any) -> object:
        flags = {key: flag for key in keys if (flag := given.pop(key)) is not None}
        if "suits" in flags:
            flags["suits"] = every_game(flags["suits"])
        return command(*args, flags=flags, **given)

    decorated: Any = with_flags
    for key in reversed(keys):
        decorated = _OPTIONS[key](decorated)
    return decorated


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
    if settings.plain or not terminal.is_terminal:
        return True
    if not terminal.redraws:
        say(f"Playing in lines of text: {terminal.why_plain}.")
    return not terminal.redraws
