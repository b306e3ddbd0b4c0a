"""The command `saratoga`: its subcommands, its help, and its exit codes.

Help begins with examples. Errors are sentences on the error stream, and the exit code gives the
kind of error (`problems.Exit`). A player never sees a stack trace. Every start imports this module,
so commands, and the module for reports of unexpected errors, are imported when they are used.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from io import StringIO
from traceback import format_exception
from typing import Any, Final

import click

from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.games import GAMES

COMMANDS: Final[Mapping[str, str]] = {
    "host": "Open a table, with a server on this machine if no other is named.",
    "join": "Join a table by its code or an invitation's URL.",
    "watch": "Watch a table live, without a seat.",
    "daily": "Run the deal of the day, the same for everyone.",
    "challenge": "Challenge friends on a deal that each runs when they like.",
    "practice": "Play alone, offline, with undo and hints.",
    "replay": "Step through a finished race.",
    "rules": "Show the rules of a game.",
    "leaderboard": "Show the best players of a game, by day, week, month or all time.",
    "verify": "Check a finished race from its record: deal, moves, scores, order.",
    "bot": "Send a bot to a table.",
    "doctor": "Check the terminal, the files and the connection to the server.",
    "token": "Move your identity to a second device.",
    "completion": "Print the code that makes your shell complete commands.",
}
"""Each command with its line in the help; the module `cli.NAME` has it as `command`, unless `ELSEWHERE` says so."""

ELSEWHERE: Final = {"daily": "open_race", "challenge": "open_race"}
"""The module of each command that is not alone in its module, where it has its own name."""

EXPOSURE_WARNING: Final = (
    "Every user of this machine can read the server's password on the command line. Put the URL "
    "into config.toml, or set SARATOGA_SERVER."
)
"""The warning about an address with a password among the arguments."""

_WITH_PASSWORD: Final = re.compile(r"://[^/?#\s:@]*:[^/?#\s]+@")


class ExampleCommand(click.Command):
    """A command whose help begins with examples."""

    def __init__(self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_examples(ctx, formatter)
        self.format_usage(ctx, formatter)
        self.format_options(ctx, formatter)

    def format_examples(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description and the examples."""
        self.format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            formatter.write_dl(self.examples, col_max=48)


def example_command(
    *examples: tuple[str, str], **attributes: Any
) -> Callable[[Callable[..., Any]], ExampleCommand]:
    """Return a decorator that makes a function a command with these examples and their explanations."""
    return click.command(cls=ExampleCommand, examples=examples, **attributes)


class ExampleGroup(ExampleCommand, click.Group):
    """A group of commands whose help begins with examples and the commands."""

    command_class = ExampleCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)


class CommandGroup(ExampleGroup):
    """The group of all commands, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        place = ELSEWHERE.get(cmd_name)
        module = import_module(f"saratoga_client.cli.{place or cmd_name}")
        command: click.Command = getattr(module, cmd_name if place else "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Join the table of a code or an invitation's URL in place of a command."""
        word = args[0]
        if word not in COMMANDS and not ctx.resilient_parsing:
            from saratoga_client.session.invitation import destination

            found = destination(word)
            if found is not None and found.code:
                return "join", self.get_command(ctx, "join"), args
            near = get_close_matches(word, (*COMMANDS, *GAMES), n=1)
            meant = f"host {near[0]}" if near and near[0] in GAMES else "".join(near)
            advice = f' Did you mean "{meant}"?' if meant else ""
            ctx.fail(f"No such command {word!r}.{advice}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all commands without an import of their modules."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


class WordsOnly(logging.Formatter):
    """A formatter of log records that omits their stack traces."""

    def format(self, record: logging.LogRecord) -> str:
        return sanitised(f"saratoga: {record.getMessage()}")


def run(group: click.Group, arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    handler = logging.StreamHandler()
    handler.setFormatter(WordsOnly())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    if any(map(_WITH_PASSWORD.search, sys.argv[1:] if arguments is None else arguments)):
        say(f"Warning: {EXPOSURE_WARNING}")
    try:
        ended = group.main(arguments, prog_name="saratoga", standalone_mode=False)
    except click.ClickException as error:
        # `say` sanitises it: the message may repeat pasted text
        text = StringIO()
        error.show(text)
        for line in text.getvalue().rstrip("\n").split("\n"):
            say(line)
        return error.exit_code
    except Problem as problem:
        say(f"saratoga: {problem}")
        for line in problem.said:
            say(line)
        return problem.code
    except (KeyboardInterrupt, click.Abort):
        say("")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # the reader of the output has ended; do not fail again when the stream is flushed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception as error:
        return _unexpected(error)
    return ended if isinstance(ended, int) else Exit.DONE


def _unexpected(error: Exception) -> int:
    """Save the stack trace in a file, print the file's path, and return the exit code."""
    kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    say(f"saratoga: An unexpected error occurred ({kind}).")
    try:
        from saratoga_client.local.paths import state_folder

        report = state_folder() / "last-fault.txt"
        report.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        report.write_text("".join(format_exception(error)), encoding="utf-8")
    except OSError:
        say("Please report it with what you were doing.")
    else:
        say(f"Please report it with what you were doing and the file {report}.")
    return Exit.UNEXPECTED
