"""A reader of record lines whose errors name the line."""

import re
from typing import NoReturn


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
