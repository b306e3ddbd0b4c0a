"""`saratoga`: the players' command line."""

import sys
from importlib.metadata import PackageNotFoundError, version

import click

from saratoga_client.commands.group import Verbs, open_lobby, run


def _version() -> str:
    try:
        return version("saratoga")
    except PackageNotFoundError:
        return "not installed"


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(_version(), "--version", message="saratoga %(version)s")
@click.option("--server", metavar="URL", help="The house whose lobby to open.")
@click.option("--plain", is_flag=True, help="The lobby in lines of text.")
@click.pass_context
def saratoga(context: click.Context, server: str | None, plain: bool) -> None:
    """Patience as a race: the same deal for everyone, every move judged, every result provable.

    Without a command it opens the lobby.
    """
    if context.invoked_subcommand is None:
        open_lobby(context, server, is_plain=plain)
    elif server or plain:
        raise click.UsageError(
            f"Options stand behind the command: saratoga {context.invoked_subcommand} ..."
        )


def main() -> None:
    sys.exit(run(saratoga))


if __name__ == "__main__":
    main()
