"""`saratoga token`: who you are to each house, and how that is carried to a second device."""

import sys
from pathlib import Path

import click

from saratoga_client.cli.commands import ExampleCommand, write_examples
from saratoga_client.local import identity, key_files, token_export
from saratoga_client.local.origins import origin_of
from saratoga_client.output import say, write_line
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import bad_address
from saratoga_protocol.players import player_id

EXAMPLES = (
    ("saratoga token export me.secret", "into a file for you alone, to carry over"),
    ("saratoga token import me.secret", "on the other device: be the same player everywhere"),
    ("saratoga token use ws://192.168.1.7:7470 --at ws://192.168.1.9:7470", "a house that moved"),
    ("saratoga token use old --at wss://cards.example.org", "as the player of saratoga 0.1"),
    ("saratoga token renew", "be somebody new everywhere, if it was stolen"),
)

OLD = "old"
"""In the place of an address: the token that saratoga 0.1 showed to every house."""


class Tokens(click.Group):
    """The group of what can be done with tokens."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_help_text(ctx, formatter)
        write_examples(formatter, EXAMPLES)
        self.format_usage(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


class House(click.ParamType[str]):
    """A house's address, read as its origin."""

    name = "house"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return origin_of(value)
        except ValueError:
            raise bad_address(value) from None


HOUSE = House()


@click.group(cls=Tokens)
def command() -> None:
    """Who you are to each house, and how to be the same player on a second device.

    Your secret lies in a file that only you can read, and no house is told it. Each house is told a
    token that is made from the secret and the house's address: whoever has a token is you at that
    one house, and whoever has the secret is you everywhere.
    """


@command.command("show", cls=ExampleCommand, examples=(("saratoga token show", "no secret in it"),))
@click.argument("house", type=HOUSE, required=False)
def show(house: str | None) -> None:
    """Say where the secret lies and where a token was brought; of HOUSE, which player you are there.

    Nothing secret is shown.
    """
    if house is not None:
        path = identity.server_token_path(house)
        made = f"the token in {path}" if path.exists() else "your secret"
        write_line(f"{house}: player {player_id(_token_at(house))}, by {made}")
        return
    path = identity.secret_path()
    write_line(f"secret: {path}{'' if path.exists() else ', to be made at your first visit'}")
    for given in identity.given_tokens():
        write_line(f"{given.origin}: {given.path}")
    if (old := identity.old_token_path()).exists():
        write_line(f"of saratoga 0.1, used nowhere by itself: {old}")


@command.command(
    "export",
    cls=ExampleCommand,
    examples=(
        ("saratoga token export me.secret", "into a new file for you alone"),
        ("saratoga token export --house wss://cards.example.org one.token", "for one house only"),
        ("saratoga token export --show", "onto the screen, or into a pipe"),
    ),
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--house", type=HOUSE, metavar="URL", help="Only the token for this house.")
@click.option("--show", is_flag=True, help="Print it, even into a pipe.")
def export(file: Path | None, house: str | None, show: bool) -> None:
    """Write the secret, or the token for one house, into FILE, which must not be there yet.

    Without FILE it is printed: on a terminal after asking, into a pipe only with --show.
    """
    if house is None:
        it, what = token_export.ExportedKey(_secret(), is_secret=True), "secret"
    else:
        it, what = (
            token_export.ExportedKey(_token_at(house), is_secret=False, origin=house),
            "token",
        )
    if file is not None:
        try:
            key_files.write_new(file, it.line)
        except OSError as error:
            raise _not_written(file, error) from None
        say(f"The {what} is in {file}, for you alone to read. Delete it when it is carried over.")
        return
    if not show:
        if not (sys.stdout.isatty() and sys.stdin.isatty()):
            raise Problem(
                f"The {what} is for you alone, and this is not a terminal.",
                "Name a file, or say --show if the pipe is meant to have it.",
                Exit.USAGE,
            )
        click.confirm(f"Whoever sees the {what} can be you. Show it here?", abort=True, err=True)
    write_line(it.line)


def _not_written(file: Path, error: OSError) -> Problem:
    if file.exists() or file.is_symlink():
        return Problem(f"There is a file {file} already.", "Choose another name.", Exit.USAGE)
    return Problem(
        f"It cannot be written into {file}: {error.strerror or error}.",
        "Name a file where you can write one.",
        Exit.USAGE,
    )


@command.command(
    "import",
    cls=ExampleCommand,
    examples=(
        ("saratoga token import me.secret", "from a file"),
        ("saratoga token import -", "from the standard input"),
        ("saratoga token import me.secret --replace", "in the place of this machine's own"),
        ("saratoga token import me.token --house wss://cards.example.org", "of saratoga 0.1"),
    ),
)
@click.argument("file", metavar="FILE|-")
@click.option("--house", type=HOUSE, metavar="URL", help="Where a token is to be used.")
@click.option("--replace", is_flag=True, help="Put another one's file aside, and take this one.")
def import_(file: str, house: str | None, replace: bool) -> None:
    """Be here who you are on your other device: everywhere by a secret, at one house by a token.

    What this machine has already is not lost: with --replace its file is put aside.
    """
    it = _read(file)
    if it.is_secret:
        if house is not None:
            raise Problem(
                "A secret is for all houses.", "Leave out --house, or export a token.", Exit.USAGE
            )
        _take(identity.secret_path(), it.key, replace=replace)
        return
    origin = house or it.origin
    if not origin:
        raise Problem(
            "This is the token of saratoga 0.1, and says nothing of the house it is for.",
            "Say that with --house URL.",
            Exit.USAGE,
        )
    _take(identity.server_token_path(origin), it.key, replace=replace)


@command.command(
    "use",
    cls=ExampleCommand,
    examples=(
        ("saratoga token use ws://10.0.0.2:7470 --at wss://cards.example.org", "it got TLS"),
        ("saratoga token use old --at ws://127.0.0.1:7470", "as the player of saratoga 0.1"),
    ),
)
@click.argument("house", metavar="URL|old")
@click.option("--at", type=HOUSE, metavar="URL", required=True, help="The house to be that at.")
@click.option("--replace", is_flag=True, help="Put aside a token that was brought there before.")
def use(house: str, at: str, replace: bool) -> None:
    """Be at one address of a house who you are at another: it moved, or has two.

    The house at the new address can then be you at the old one. With `old`, the token of saratoga
    0.1 is used there; every house that you went to with 0.1 knows that one.
    """
    token = _old_token() if house == OLD else _token_at(HOUSE.convert(house, None, None))
    _take(identity.server_token_path(at), token, replace=replace)


@command.command(
    "forget",
    cls=ExampleCommand,
    examples=(("saratoga token forget ws://10.0.0.2:7470", "go by your secret there again"),),
)
@click.argument("house", type=HOUSE)
def forget(house: str) -> None:
    """Put aside the token that was brought for HOUSE, and go by your secret there again."""
    try:
        aside = key_files.put_aside(identity.server_token_path(house))
    except OSError as error:
        raise Problem(f"It cannot be put aside: {error}.", "", Exit.UNEXPECTED) from None
    if aside is None:
        raise Problem(f"No token was brought for {house}.", "", Exit.USAGE)
    say(f"At {house} you go by your secret again; the token is put aside in {aside}.")


@command.command(
    "renew", cls=ExampleCommand, examples=(("saratoga token renew", "if your secret was stolen"),)
)
def renew() -> None:
    """Make a new secret: be somebody new at every house that no token was brought for.

    A stolen secret does not open a house's door to you any more, but it goes on to open it to the
    thief: ask the hosts to forget the player that you were (`saratoga token show HOUSE` says which,
    before this), and claim your name anew.
    """
    _take(identity.secret_path(), key_files.new_key(), replace=True)


def _take(path: Path, key: str, *, replace: bool) -> None:
    """Keep it there, and say so."""
    try:
        aside = key_files.take(path, key, replace=replace)
    except key_files.UnusableToken as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.REFUSED) from None
    if path == identity.secret_path():
        say(f"That is who you are here now, at every house; the secret is in {path}.")
    else:
        say(f"That is who you are at this house now; the token is in {path}.")
    if aside is not None:
        say(f"What was there is put aside in {aside}.")


def _secret() -> str:
    try:
        return key_files.load(identity.secret_path())
    except FileNotFoundError:
        raise Problem(
            "There is no secret on this machine yet.",
            "One is made at your first visit to a house.",
            Exit.USAGE,
        ) from None
    except key_files.UnusableToken as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from None


def _token_at(origin: str) -> str:
    if not identity.server_token_path(origin).exists():
        return identity.derived(_secret(), origin)
    try:
        return identity.token_for(origin)
    except key_files.UnusableToken as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from None


def _old_token() -> str:
    path = identity.old_token_path()
    try:
        return key_files.load(path)
    except FileNotFoundError:
        raise Problem(
            f"There is no token of saratoga 0.1 in {path}.",
            "If you have it in a file: saratoga token import FILE --house URL.",
            Exit.USAGE,
        ) from None
    except key_files.UnusableToken as unusable:
        raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from None


def _read(file: str) -> token_export.ExportedKey:
    try:
        if file == "-":
            text = sys.stdin.readline(1024)
        else:
            with Path(file).open(encoding="utf-8") as source:
                text = source.read(1024)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{file} cannot be read: {error}.", "", Exit.USAGE) from None
    it = token_export.read(text)
    if it is None:
        raise Problem(
            f"{'What came in' if file == '-' else file} holds neither a secret nor a token.",
            "On the other device, write it with: saratoga token export FILE",
            Exit.USAGE,
        )
    return it
