"""Plain output: lines, and a prompt if a person types at a terminal."""

import sys
from collections.abc import Iterable
from typing import Final

import click

from saratoga_client.output import write_line
from saratoga_client.plain.card_names import LineStyle

PROMPT: Final = "> "


class LineOutput:
    """A writer of lines to the standard output."""

    def __init__(self, *, prompts: bool | None = None, is_verbose: bool = False) -> None:
        """Create the output; with `prompts=None`, prompt only if a person types at a terminal."""
        self.style = LineStyle(is_verbose=is_verbose)
        self.is_interactive = is_interactive() if prompts is None else prompts
        """True if a person types at a terminal; then a prompt is shown."""
        self._has_prompted = False

    def write(self, *lines: str) -> None:
        """Write lines; control characters in them are made visible."""
        for line in lines:
            if self._has_prompted:
                # Leave the prompt's line before an event is written.
                self._has_prompted = False
                write_line("")
            write_line(line)

    def write_all(self, lines: Iterable[str]) -> None:
        """Write every line of an iterable."""
        self.write(*lines)

    def line_typed(self) -> None:
        """Note that the player pressed Enter, so the cursor has left the prompt's line."""
        self._has_prompted = False

    def prompt(self) -> None:
        """Show the prompt, unless the last line shows it already."""
        if self.is_interactive and not self._has_prompted:
            click.echo(PROMPT, nl=False)
            sys.stdout.flush()
            self._has_prompted = True


def is_interactive() -> bool:
    """Return whether a person types and reads at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
