"""`saratoga`: the command line for players.

Every command imports this module, so it imports the home and the code of `--version` on use.
"""

import gc
import sys
from typing import Final

import click

from saratoga_client.cli.frame import CommandGroup, run
from saratoga_client.cli.options import all_options

FEWER_COLLECTIONS: Final = 20_000
"""Number of allocations between two garbage collections.

With Python's default, collections take a tenth of the start-up time, although most objects created
at the start are never freed.
"""


@click.group(
    cls=CommandGroup,
    examples=(
        ("saratoga", "the home: race now, race friends, practise"),
        ("saratoga host klondike", "a table for friends, with an invitation to send"),
        ("saratoga join mint-otter-42", "join a friend's table"),
        ("saratoga practice caprice", "play alone, with undo and hints"),
        ("saratoga bot mint-otter-42 --strength weak", "a bot to race against"),
        ("saratoga verify mint-otter-42/3", "check a finished race yourself"),
    ),
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="saratoga", message="saratoga %(version)s")
@all_options
@click.pass_context
def saratoga(context: click.Context, /, **flags: object) -> None:
    """Patience as a race: the same deal for everyone, every move judged, every result provable.

    Without a command it opens the home.
    """
    if context.invoked_subcommand is None:
        from saratoga_client.cli.home import open_home

        open_home(context, flags)
    elif any(flag is not None for flag in flags.values()):
        raise click.UsageError(
            f"Options go after the command: saratoga {context.invoked_subcommand} ..."
        )


def main() -> None:
    gc.set_threshold(FEWER_COLLECTIONS)
    sys.exit(run(saratoga))


if __name__ == "__main__":
    main()
