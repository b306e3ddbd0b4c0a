"""How a command speaks: live on a terminal, in plain lines elsewhere, in JSON for programs.

Results go to the standard output, messages to the error stream. Colours and live pictures
appear only on a terminal that can show them (`NO_COLOR`, `TERM=dumb` and pipes are heeded).
"""

import os
import sys
from enum import Enum, auto

import click
from msgspec import Struct, json

from saratoga_client.problems import Exit, Problem


class Manner(Enum):
    """In which form results are written."""

    LIVE = auto()
    """A picture that changes in place, or a coloured table."""
    PLAIN = auto()
    """One fact a line, no colours: for screen readers, pipes and logs."""
    JSON = auto()
    """One versioned object a line."""


def manner(*, as_json: bool, plain: bool) -> Manner:
    """What was asked for, or what the terminal can show."""
    if as_json and plain:
        raise Problem("--json and --plain exclude each other.", "Choose one.", Exit.USAGE)
    if as_json:
        return Manner.JSON
    if plain or not is_capable():
        return Manner.PLAIN
    return Manner.LIVE


def is_capable() -> bool:
    """Whether the standard output is a terminal that can redraw."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def write_line(text: str) -> None:
    """A line of results, at once: whoever reads a pipe waits for it."""
    click.echo(text)
    sys.stdout.flush()


def write_json(result: Struct) -> None:
    """A result as one line of JSON."""
    write_line(json.encode(result).decode())


def say(text: str) -> None:
    """A message to the person at the terminal; never part of the results."""
    click.echo(text, err=True)
