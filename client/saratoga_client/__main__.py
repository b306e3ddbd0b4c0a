"""`saratoga`: the command line for players.

Every command imports this module, so it imports the lobby and the code of `--version` on use.
"""

import gc
import sys
from collections.abc import Mapping
from typing import Final

import click

from saratoga_client.cli.commands import CommandGroup, run
from saratoga_client.cli.options import lobby_options

FEWER_COLLECTIONS: Final = 20_000
"""Number of allocations between two garbage collections.

With Python's default, collections take a tenth of the start-up time, although most objects created
at the start are never freed.
"""


def _print_version(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if not is_asked:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("saratoga")
    except PackageNotFoundError:
        installed = "not installed"
    click.echo(f"saratoga {installed}")
    context.exit()


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@lobby_options
@click.pass_context
def saratoga(context: click.Context, flags: Mapping[str, object]) -> None:
    """Patience as a race: the same deal for everyone, every move judged, every result provable.

    Without a command it opens the lobby.
    """
    if context.invoked_subcommand is None:
        from saratoga_client.cli.lobby import open_lobby

        open_lobby(context, flags)
    elif flags:
        raise click.UsageError(
            f"Options go after the command: saratoga {context.invoked_subcommand} ..."
        )


def main() -> None:
    gc.set_threshold(FEWER_COLLECTIONS)
    sys.exit(run(saratoga))


if __name__ == "__main__":
    main()
