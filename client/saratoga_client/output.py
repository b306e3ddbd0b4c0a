"""The output of commands: live displays on terminals, plain lines elsewhere, JSON for programs.

Results go to standard output, messages to standard error. Colours and live output appear only on a
terminal that can show them (see `NO_COLOR` and `TERM=dumb`). All text is sanitised here.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, TextIO

import click
from msgspec import to_builtins

from saratoga_client.local.terminal import this_terminal
from saratoga_client.problems import Exit, Problem
from saratoga_client.text import message_lines
from saratoga_client.wording import BOT_SIGN
from saratoga_protocol.visible_text import sanitised

LEAST_WIDTH: Final = 20
"""The smallest width in columns to which messages are wrapped."""


class OutputFormat(Enum):
    """The format of a command's results."""

    LIVE = auto()
    """For terminals: a display that is redrawn in place, or a coloured table."""
    PLAIN = auto()
    """For screen readers, pipes and logs: one fact per line, without colours."""
    JSON = auto()
    """For programs: one versioned JSON object per line."""


def output_format(*, as_json: bool, plain: bool) -> OutputFormat:
    """Return the format that the options select, or the terminal's default. Raises `Problem`."""
    if as_json and plain:
        raise Problem("--json and --plain exclude each other.", "Choose one.", Exit.USAGE)
    if as_json:
        return OutputFormat.JSON
    return OutputFormat.PLAIN if plain or this_terminal().why_plain else OutputFormat.LIVE


def write_line(text: str, *, mark: str = "") -> None:
    """Write a line of results, wrapped on a terminal, and flush it, because the reader of a pipe waits for it.

    `mark` precedes the line and is not sanitised, so it must not contain text from a server.
    """
    margin = len(click.unstyle(mark)) if mark else 0
    # spoken, the sign of a bot would be a degree
    text = sanitised(text).replace(BOT_SIGN, " [bot]")
    first, *more = _for_people(text, sys.stdout, margin)
    _write(mark + first)
    for line in more:
        _write(" " * margin + line)


def write_script(text: str) -> None:
    """Write code for a shell or a secret, neither sanitised nor wrapped; it must not contain text from a server."""
    _write(text)


def write_json(schema: str, fields: Mapping[str, object]) -> None:
    """Write a result as one line of JSON in ASCII; client/README.md lists the fields of every schema."""
    _write(json.dumps(to_builtins({"schema": schema, **fields})))


def say(text: str) -> None:
    """Write a message to the player on standard error, wrapped to the width of a terminal."""
    for line in _for_people(sanitised(text), sys.stderr):
        click.echo(line, err=True)


def _for_people(text: str, stream: TextIO, margin: int = 0) -> list[str]:
    """Return a text as lines: wrapped for a terminal, unchanged for a pipe."""
    if not stream.isatty():
        return [text]
    columns = shutil.get_terminal_size((80, 24)).columns
    return message_lines(text, max(LEAST_WIDTH, columns - margin))


def _write(text: str) -> None:
    click.echo(text)
    sys.stdout.flush()
