"""A plain session: the input lines, the output, and the style of lines."""

from dataclasses import dataclass, field, replace
from enum import Enum, auto

import click

from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.grammar import Context, ParsedLine, help_lines, parse_line
from saratoga_client.plain.io import LineOutput, LineReader, StandardInput
from saratoga_client.session.table_session import TableSession


class ExitReason(Enum):
    """The reason for leaving a table, a practice game or the lobby."""

    LEFT = auto()
    """The player returns to the lobby, or to the shell."""
    QUIT = auto()
    """The player ends the program."""
    INPUT_ENDED = auto()
    """The input has no more lines, so the program ends."""


@dataclass(slots=True)
class PlainSession:
    """Input and output of one run; shared by lobby, tables and practice."""

    lines: LineReader
    output: LineOutput
    friends: str = ""
    """The address by which friends reach the server; empty if it follows from the server's own."""
    alarms: list[str] = field(default_factory=list)
    """The alarms of all tables of this run; the program ends with them."""
    table: TableSession | None = None
    """The last table of this run."""

    @property
    def card_names(self) -> CardNames:
        """Return the names of cards that the player chose."""
        return self.output.style.card_names

    async def command(self, context: Context) -> ParsedLine | None:
        """Return the next line that is not empty; `None` at the end of the input."""
        while True:
            self.output.prompt()
            line = await self.lines.next()
            self.output.line_typed()
            if line is None:
                return None
            parsed = parse_line(line, context)
            if parsed.line:
                return parsed

    async def ask(self, question: str) -> str:
        """Ask, and return the next line. Raises `click.Abort` at the end of the input."""
        click.echo(f"{question}: ", nl=False, err=True)
        line = await self.lines.next()
        if line is None:
            raise click.Abort
        return line.strip()

    def help(self, context: Context) -> None:
        """Write the help on the commands that can be typed in this context."""
        self.output.write_all(help_lines(context))

    def choose_cards(self, words: str) -> None:
        """Carry out the command `cards`: change or show the style of card names."""
        match words.lower():
            case "letters" | "words" as form:
                names = CardNames(in_words=form == "words")
                self.output.style = replace(self.output.style, card_names=names)
            case "":
                pass
            case _:
                self.output.write("no: Type cards letters, or cards words.")
                return
        form = "words" if self.card_names.in_words else "letters"
        self.output.write(f"ok: cards are written in {form}")

    def choose_verbose(self, words: str) -> None:
        """Carry out the command `verbose`: set or toggle verbose standings."""
        match words.lower():
            case "on" | "off" as switch:
                is_verbose = switch == "on"
            case "":
                is_verbose = not self.output.style.is_verbose
            case _:
                self.output.write("no: Type verbose on, or verbose off.")
                return
        self.output.style = replace(self.output.style, is_verbose=is_verbose)
        self.output.write(
            "ok: every change of the standings is shown"
            if is_verbose
            else "ok: only standings that concern you are shown"
        )


def open_session(friends: str = "") -> PlainSession:
    """Return a session on the standard input and output; `friends` as in `PlainSession`."""
    return PlainSession(LineReader(StandardInput()), LineOutput(), friends=friends)
