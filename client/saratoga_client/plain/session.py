"""A talk between a person, or a script, and this program: lines in, lines out, and how they are said."""

from dataclasses import dataclass, replace
from enum import Enum, auto

from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.grammar import Context, ParsedLine, help_lines, parse_line
from saratoga_client.plain.line_reader import LineReader, StandardInput
from saratoga_client.plain.output import LineOutput


class ExitReason(Enum):
    """Why a place was left."""

    LEFT = auto()
    """For the place before it: the lobby, or the shell."""
    QUIT = auto()
    """The program is to end."""
    INPUT_ENDED = auto()
    """There are no more lines: nobody can say anything any more."""


@dataclass(slots=True)
class PlainSession:
    """Goes with a player from place to place."""

    lines: LineReader
    output: LineOutput
    card_names: CardNames = LETTERS
    is_verbose: bool = False
    """Say every standing, not only what changes for the player."""

    async def command(self, context: Context) -> ParsedLine | None:
        """The next order; empty lines are passed over. `None`: there are no more."""
        while True:
            self.output.prompt()
            line = await self.lines.next()
            self.output.line_typed()
            if line is None:
                return None
            parsed = parse_line(line, context)
            if parsed.line:
                return parsed

    def help(self, context: Context) -> None:
        self.output.write_all(help_lines(context))

    def choose_cards(self, words: str) -> None:
        """How cards are said."""
        match words.lower():
            case "letters" | "words" as how:
                self.card_names = replace(self.card_names, in_words=how == "words")
                self.output.write(f"ok: cards are said in {how}")
            case "":
                self.output.write(
                    f"ok: cards are said in {'words' if self.card_names.in_words else 'letters'}"
                )
            case _:
                self.output.write("no: Say cards letters, or cards words.")

    def choose_verbose(self, words: str) -> None:
        """How many standings are said."""
        match words.lower():
            case "on" | "off" as how:
                self.is_verbose = how == "on"
            case "":
                self.is_verbose = not self.is_verbose
            case _:
                self.output.write("no: Say verbose on, or verbose off.")
                return
        which = "every standing is said" if self.is_verbose else "what changes for you is said"
        self.output.write(f"ok: {which}")


def open_session() -> PlainSession:
    """With whoever sits at this terminal, or is at the other end of the pipe."""
    return PlainSession(LineReader(StandardInput()), LineOutput())
