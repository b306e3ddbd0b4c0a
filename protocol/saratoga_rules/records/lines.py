"""A reader of record lines whose errors name the line, and the lines that all kinds of records share."""

import re
from typing import Final, NoReturn


class RecordError(ValueError):
    """A text that is not a record; carries the line number and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        """The number of the line, from 1."""
        self.reason = reason

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class RecordReader:
    """A reader of a text, line by line."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.number = 0

    @property
    def line(self) -> str:
        """The next line to read."""
        return self.lines[self.number] if self.number < len(self.lines) else ""

    def take(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        found = pattern.fullmatch(self.line)
        if found is None:
            raise RecordError(self.number + 1, f"expected {expected}, found {self._quoted}")
        self.number += 1
        return found

    def starts(self, word: str) -> bool:
        return self.line.startswith(word + " ")

    def refuse(self, reason: str) -> NoReturn:
        """Raise `RecordError` for the line taken last."""
        raise RecordError(self.number, reason)

    @property
    def _quoted(self) -> str:
        if self.number >= len(self.lines):
            return "the end of the text"
        return repr(self.line[:60])


NUMBER: Final = "(?:0|[1-9][0-9]{0,14})"
"""The pattern of a number."""
_GAME: Final = re.compile("game ([a-z][a-z0-9-]{0,31})")
_RULES: Final = re.compile("rules ([1-9][0-9]{0,5})")
_RACE: Final = re.compile("race ([a-z][a-z0-9-]{0,39})/([1-9][0-9]{0,5})")
_START: Final = re.compile(f"start ({NUMBER})")
_CAP: Final = re.compile("cap (0|[1-9][0-9]{0,3})")
_PUBLIC: Final = re.compile("public (yes|no)")


def parse_race_lines(reader: RecordReader) -> tuple[str, int, str, int, int, int, bool]:
    """Return game, rules version, table, race number, start in milliseconds, cap in minutes, and public or not.

    Raise `RecordError` if the next lines are not these facts, in this order.
    """
    game = reader.take(_GAME, "the game")[1]
    rules_version = int(reader.take(_RULES, "the version of the rules")[1])
    table, race = reader.take(_RACE, "the race").groups()
    start_at = int(reader.take(_START, "the start")[1])
    cap = int(reader.take(_CAP, "the time limit")[1])
    public = reader.take(_PUBLIC, "'public yes' or 'public no'")[1] == "yes"
    return game, rules_version, table, int(race), start_at, cap, public
