"""`saratoga token`: carry who you are to a second device."""

import sys
from pathlib import Path

import click

from saratoga_client import identity
from saratoga_client.commands.group import ExampleCommand, write_examples
from saratoga_client.output import say, write_line
from saratoga_client.problems import Exit, Problem

EXAMPLES = (
    ("saratoga token export me.token", "into a file for you alone, to carry over"),
    ("saratoga token import me.token", "on the other device"),
    ("saratoga token export --show | ssh laptop saratoga token import -", "in one step"),
)


class Tokens(click.Group):
    """The group of what can be done with the token."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_help_text(ctx, formatter)
        write_examples(formatter, EXAMPLES)
        self.format_usage(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=Tokens)
def command() -> None:
    """Carry who you are to a second device.

    The token is your key to your name and your results: whoever has it is you. It is made at your
    first visit to a house and lies in a file that only you can read.
    """


@command.command(
    "export",
    cls=ExampleCommand,
    examples=(
        ("saratoga token export me.token", "into a new file for you alone"),
        ("saratoga token export --show", "onto the screen, or into a pipe"),
    ),
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--show", is_flag=True, help="Print it, even into a pipe.")
def export(file: Path | None, show: bool) -> None:
    """Write the token into FILE, which must not be there yet, or print it.

    On a terminal it asks before it prints; into a pipe it prints only with --show.
    """
    token = _own()
    if file is not None:
        try:
            identity.write_new(file, token)
        except OSError as error:
            raise _not_written(file, error) from None
        say(f"The token is in {file}, for you alone to read. Delete it when it is carried over.")
        return
    if not show:
        if not (sys.stdout.isatty() and sys.stdin.isatty()):
            raise Problem(
                "The token is a secret, and this is not a terminal.",
                "Name a file, or say --show if the pipe is meant to have it.",
                Exit.USAGE,
            )
        click.confirm("Whoever sees the token can be you. Show it here?", abort=True, err=True)
    write_line(token)


def _not_written(file: Path, error: OSError) -> Problem:
    if file.exists() or file.is_symlink():
        return Problem(f"There is a file {file} already.", "Choose another name.", Exit.USAGE)
    return Problem(
        f"The token cannot be written into {file}: {error.strerror or error}.",
        "Name a file where you can write one.",
        Exit.USAGE,
    )


def _own() -> str:
    try:
        return identity.load_token(identity.token_path())
    except FileNotFoundError:
        raise Problem(
            "There is no token on this machine yet.",
            "One is made at your first visit to a house.",
            Exit.USAGE,
        ) from None
    except identity.TokenUnusable as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from None


@command.command(
    "import",
    cls=ExampleCommand,
    examples=(
        ("saratoga token import me.token", "from a file"),
        ("saratoga token import -", "from the standard input"),
        ("saratoga token import me.token --replace", "in the place of this machine's own"),
    ),
)
@click.argument("file", metavar="FILE|-")
@click.option("--replace", is_flag=True, help="Put another token's file aside, and take this one.")
def import_(file: str, replace: bool) -> None:
    """Be here who you are on your other device.

    A token that this machine has already is not lost: with --replace its file is put aside.
    """
    token = _read(file)
    path = identity.token_path()
    try:
        aside = identity.take(path, token, replace=replace)
    except identity.TokenUnusable as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.REFUSED) from None
    say(f"You are the same player here now; the token is in {path}.")
    if aside is not None:
        say(f"The token that was there is put aside in {aside}.")


def _read(file: str) -> str:
    try:
        if file == "-":
            text = sys.stdin.readline(1024)
        else:
            with Path(file).open(encoding="utf-8") as source:
                text = source.read(1024)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{file} cannot be read: {error}.", "", Exit.USAGE) from None
    token = text.strip()
    if not identity.is_token(token):
        raise Problem(
            f"{'What came in' if file == '-' else file} is no token of 64 hexadecimal digits.",
            "On the other device, write it with: saratoga token export FILE",
            Exit.USAGE,
        )
    return token
