"""`saratoga token`: a player's secret and tokens, and how they move to a second device."""

import sys
import time
from contextlib import suppress
from pathlib import Path

import click

from saratoga_client.cli.frame import ExampleGroup
from saratoga_client.local import identity
from saratoga_client.local.origins import check_address
from saratoga_client.output import say, write_line, write_script
from saratoga_client.problems import Exit, Problem
from saratoga_protocol.commands import player_id

SERVER = click.types.FuncParamType(check_address)
"""The type of a parameter: a server's address, converted to its normal form."""


@click.group(
    cls=ExampleGroup,
    examples=(
        ("saratoga token export me.secret", "write your secret to a file for the other device"),
        ("saratoga token import me.secret", "on the other device: become the same player"),
        ("saratoga token renew", "replace a stolen secret"),
    ),
)
def command() -> None:
    """Show, export and import what identifies you to servers.

    Your secret is in a file that only you can read, and no server gets it. Each server gets a token
    that is derived from the secret and the server's address. A person with one of your tokens can
    play as you at that one server; a person with your secret can play as you everywhere.
    """


@command.command("show", examples=(("saratoga token show", "prints nothing secret"),))
@click.argument("server", type=SERVER, required=False)
def show(server: str | None) -> None:
    """Print where your secret and imported tokens are; with SERVER, your player id there.

    Nothing secret is printed.
    """
    if server is not None:
        path = identity.server_token_path(server)
        source = f"the token in {path}" if path.exists() else "your secret"
        write_line(f"{server}: player {player_id(_key_for(server))}, by {source}")
        return
    path = identity.secret_path()
    write_line(f"secret: {path}{'' if path.exists() else ', created when you first connect'}")
    for origin, file in identity.imported_tokens().items():
        write_line(f"{origin}: {file}")


@command.command(
    "export",
    examples=(
        ("saratoga token export me.secret", "to a new file that only you can read"),
        ("saratoga token export --server wss://cards.example.org one.token", "for one server only"),
        ("saratoga token export --show", "to the screen, or to a pipe"),
    ),
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--server", type=SERVER, metavar="URL", help="Export only the token for this server.")
@click.option("--show", is_flag=True, help="Print it, even into a pipe.")
def export(file: Path | None, server: str | None, show: bool) -> None:
    """Write your secret, or the token for one server, to FILE, which must not exist yet.

    Without FILE it is printed: on a terminal after a question, to a pipe only with --show.
    """
    what = "token" if server else "secret"
    line = identity.export_line(_key_for(server), server or "")
    if file is not None:
        try:
            identity.write_new(file, line)
        except OSError as error:
            exists = file.exists() or file.is_symlink()
            why = "exists already" if exists else f"cannot be written: {error.strerror or error}"
            remedy = "Name another file, in a folder that you can write to."
            raise Problem(f"{file} {why}.", remedy, Exit.USAGE) from None
        say(f"The {what} is in {file}; only you can read it. Delete the file after the import.")
        return
    if not show:
        if not (sys.stdout.isatty() and sys.stdin.isatty()):
            raise Problem(
                f"The {what} must stay private, and the output is not a terminal.",
                "Name a file, or add --show to print it into the pipe.",
                Exit.USAGE,
            )
        click.confirm(
            f"A person who sees the {what} can play as you. Print it here?", abort=True, err=True
        )
    write_script(line)


@command.command(
    "import",
    examples=(
        ("saratoga token import me.secret", "from a file"),
        ("saratoga token import -", "from the standard input"),
        ("saratoga token import me.secret --replace", "replace the secret of this machine"),
    ),
)
@click.argument("file", metavar="FILE|-")
@click.option("--server", type=SERVER, metavar="URL", help="Use a token at this server.")
@click.option("--replace", is_flag=True, help="Rename the present file and use the imported one.")
def import_(file: str, server: str | None, replace: bool) -> None:
    """Become the player of your other device: everywhere with a secret, at one server with a token.

    A secret or token that this machine has already is kept: --replace renames its file.
    """
    key, origin = _read(file)
    if origin:
        _take(identity.server_token_path(server or origin), key, replace=replace)
        return
    if server is not None:
        raise Problem(
            "A secret is for all servers.", "Omit --server, or export a token.", Exit.USAGE
        )
    _take(identity.secret_path(), key, replace=replace)


@command.command(
    "renew",
    examples=(("saratoga token renew", "after your secret was stolen"),),
)
def renew() -> None:
    """Create a new secret: become a new player at every server without an imported token.

    The thief can still play as the old player. Ask each host to delete that player, whose id
    `saratoga token show SERVER` prints before this command, and claim your name again.
    """
    _take(identity.secret_path(), identity.new_token(), replace=True)


def _take(path: Path, key: str, *, replace: bool) -> None:
    """Save a secret or token in a file, rename the file that it replaces, and tell the player their paths.

    Raises `Problem` if another key is there and `replace` is false, or if writing fails.
    """
    is_same = False
    with suppress(FileNotFoundError, Problem):
        is_same = identity.load(path) == key
    aside = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        is_other = path.exists() and not is_same
        if is_other and not replace:
            raise Problem(
                f"This machine has another key already, in {path}: that is another player.",
                "To use the new one, repeat with --replace; the old file is renamed.",
                Exit.REFUSED,
            )
        if is_other:
            if aside.exists():
                raise FileExistsError(aside)
            path.rename(aside)
        if not is_same:
            identity.write_new(path, key)
    except OSError as error:
        raise Problem(
            f"The key cannot be saved in {path}: {error}.",
            f"Check that {path.parent} is writable and has free space, and repeat the command. An "
            f"old key, if any, is still there, as {path.name} or {path.name}.before-DATE.",
            Exit.REFUSED,
        ) from None
    if path == identity.secret_path():
        say(f"The secret in {path} now identifies you at every server without an imported token.")
    else:
        say(f"The token in {path} now identifies you at this server.")
    if is_other:
        say(f"The previous file is now {aside}.")


def _key_for(server: str | None) -> str:
    """Return the token for a server, or the secret, without creating one. Raises `Problem`."""
    has_token = server is not None and identity.server_token_path(server).exists()
    if not has_token and not identity.secret_path().exists():
        raise Problem(
            "There is no secret on this machine yet.",
            "It is created when you first connect to a server.",
            Exit.USAGE,
        )
    return identity.load(identity.secret_path()) if server is None else identity.token_for(server)


def _read(file: str) -> tuple[str, str]:
    """Return the key in a file, or in the standard input for `-`, and its server. Raises `Problem`."""
    try:
        if file == "-":
            text = sys.stdin.readline(1024)
        else:
            with Path(file).open(encoding="utf-8") as source:
                text = source.read(1024)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"{file} cannot be read: {error}.",
            "Give another file, or - for the standard input.",
            Exit.USAGE,
        ) from None
    exported = identity.read_export(text)
    if exported is None:
        raise Problem(
            f"{'The input' if file == '-' else file} holds neither a secret nor a token.",
            "Create the file on the other device with: saratoga token export FILE",
            Exit.USAGE,
        )
    return exported
