"""`saratoga`: the players' command line."""

import sys
from importlib.metadata import PackageNotFoundError, version

import click

from saratoga_client.commands.group import Verbs, run


def _version() -> str:
    try:
        return version("saratoga")
    except PackageNotFoundError:
        return "not installed"


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), "--version", message="saratoga %(version)s")
def saratoga() -> None:
    """Patience as a race: the same deal for everyone, every move judged, every result provable."""


def main() -> None:
    sys.exit(run(saratoga))


if __name__ == "__main__":
    main()
