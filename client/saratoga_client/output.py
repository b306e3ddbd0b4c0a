"""How a command speaks: live on a terminal, in plain lines elsewhere, in JSON for programs.

Results go to the standard output, messages to the error stream. Colours and live pictures
appear only on a terminal that can show them (`NO_COLOR`, `TERM=dumb` and pipes are heeded).
Whatever a terminal would take for a command is made visible here, wherever it came from.
"""

import os
import sys
from enum import Enum, auto

import click
from msgspec import Struct, json

from saratoga_client.problems import Exit, Problem
from saratoga_client.sanitised import sanitised, shown_in_json


class OutputFormat(Enum):
    """In which form results are written."""

    LIVE = auto()
    """A picture that changes in place, or a coloured table."""
    PLAIN = auto()
    """One fact a line, no colours: for screen readers, pipes and logs."""
    JSON = auto()
    """One versioned object a line."""


def output_format(*, as_json: bool, plain: bool) -> OutputFormat:
    """What was asked for, or what the terminal can show."""
    if as_json and plain:
        raise Problem("--json and --plain exclude each other.", "Choose one.", Exit.USAGE)
    if as_json:
        return OutputFormat.JSON
    if plain or not is_capable():
        return OutputFormat.PLAIN
    return OutputFormat.LIVE


def is_capable() -> bool:
    """Whether the standard output is a terminal that can redraw."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def write_line(text: str, *, mark: str = "") -> None:
    """A line of results, at once: whoever reads a pipe waits for it.

    `mark` stands before it as it is, colours and all; it is never other people's words.
    """
    _write(mark + sanitised(text))


def write_script(text: str) -> None:
    """Lines for another program to run; our own words only."""
    _write(text)


def write_json(result: Struct) -> None:
    """A result as one line of JSON."""
    _write(shown_in_json(json.encode(result).decode()))


def say(text: str) -> None:
    """A message to the person at the terminal; never part of the results."""
    click.echo(sanitised(text), err=True)


def _write(text: str) -> None:
    click.echo(text)
    sys.stdout.flush()
