"""A talk between a person, or a script, and this program: lines in, lines out, and how they are said."""

from dataclasses import dataclass, replace
from enum import Enum, auto

from saratoga_client.plain.card_names import LETTERS, Tongue
from saratoga_client.plain.grammar import Said, Where, help_lines, read_order
from saratoga_client.plain.line_reader import LineReader, StandardInput
from saratoga_client.plain.output import Voice


class Parting(Enum):
    """Why a place was left."""

    LEFT = auto()
    """For the place before it: the lobby, or the shell."""
    QUIT = auto()
    """The program is to end."""
    INPUT_ENDED = auto()
    """There are no more lines: nobody can say anything any more."""


@dataclass(slots=True)
class Talk:
    """Goes with a player from place to place."""

    lines: LineReader
    voice: Voice
    tongue: Tongue = LETTERS
    is_verbose: bool = False
    """Say every standing, not only what changes for the player."""

    async def order(self, where: Where) -> Said | None:
        """The next order; empty lines are passed over. `None`: there are no more."""
        while True:
            self.voice.prompt()
            line = await self.lines.next()
            self.voice.heard()
            if line is None:
                return None
            said = read_order(line, where)
            if said.line:
                return said

    def help(self, where: Where) -> None:
        self.voice.say_all(help_lines(where))

    def choose_cards(self, words: str) -> None:
        """How cards are said."""
        match words.lower():
            case "letters" | "words" as how:
                self.tongue = replace(self.tongue, in_words=how == "words")
                self.voice.say(f"ok: cards are said in {how}")
            case "":
                self.voice.say(
                    f"ok: cards are said in {'words' if self.tongue.in_words else 'letters'}"
                )
            case _:
                self.voice.say("no: Say cards letters, or cards words.")

    def choose_verbose(self, words: str) -> None:
        """How many standings are said."""
        match words.lower():
            case "on" | "off" as how:
                self.is_verbose = how == "on"
            case "":
                self.is_verbose = not self.is_verbose
            case _:
                self.voice.say("no: Say verbose on, or verbose off.")
                return
        which = "every standing is said" if self.is_verbose else "what changes for you is said"
        self.voice.say(f"ok: {which}")


def open_talk() -> Talk:
    """With whoever sits at this terminal, or is at the other end of the pipe."""
    return Talk(LineReader(StandardInput()), Voice())
