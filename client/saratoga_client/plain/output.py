"""Lines said: one after another, at once, and a prompt only where somebody types."""

import sys
from collections.abc import Iterable
from typing import Final

import click

from saratoga_client.output import write_line

PROMPT: Final = "> "


class LineOutput:
    """Says lines on the standard output."""

    def __init__(self, *, prompts: bool | None = None) -> None:
        """`prompts`: whether to ask for orders; else where a person types at a terminal."""
        self.is_interactive = is_interactive() if prompts is None else prompts
        """A person sits at a terminal, who is shown where to type."""
        self._has_prompted = False

    def write(self, *lines: str) -> None:
        """Say these lines; other people's words in them are made harmless."""
        for line in lines:
            if self._has_prompted:
                # what is said unasked does not stand behind the prompt
                self._has_prompted = False
                write_line("")
            write_line(line)

    def write_all(self, lines: Iterable[str]) -> None:
        self.write(*lines)

    def line_typed(self) -> None:
        """A line was typed, and its end has moved on from the prompt."""
        self._has_prompted = False

    def prompt(self) -> None:
        """Show that an order can be typed; once, until something is said or typed."""
        if self.is_interactive and not self._has_prompted:
            click.echo(PROMPT, nl=False)
            sys.stdout.flush()
            self._has_prompted = True


def is_interactive() -> bool:
    """Whether a person at a terminal types the orders, and reads the lines there."""
    return sys.stdin.isatty() and sys.stdout.isatty()
