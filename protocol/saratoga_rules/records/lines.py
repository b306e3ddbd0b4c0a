"""A reader of record lines whose errors name the line, and the lines that all kinds of records share."""

import json
import re
from itertools import zip_longest
from typing import Final, NoReturn

from saratoga_rules.records.grammar import (
    CAP,
    GAME,
    LONGEST_NAME,
    NAME,
    NEVER_IN_A_NAME,
    NUMBER,
    PLAYER,
    POSITIVE,
    SHORTEST_NAME,
    TABLE_CODE,
)

MOST_RACERS: Final = 16
"""The most racers in a race: the seats of a table."""


class RecordError(ValueError):
    """A text that is not a record; carries the line number and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        """The number of the line, from 1."""
        self.reason = reason

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class UnknownFact(RecordError):
    """A line that this version does not know, and that a newer one may: another format, limit or reason."""


class RecordReader:
    """A reader of a text, line by line."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.number = 0

    @property
    def line(self) -> str:
        """The next line to read."""
        return self.lines[self.number] if self.number < len(self.lines) else ""

    def take(
        self, pattern: re.Pattern[str], expected: str, newer: re.Pattern[str] | None = None
    ) -> re.Match[str]:
        """Read a line. Raise `UnknownFact` if it has only the form `newer`, and `RecordError` if it has neither."""
        found = pattern.fullmatch(self.line)
        if found is None:
            is_newer = newer is not None and newer.fullmatch(self.line)
            error = UnknownFact if is_newer else RecordError
            raise error(self.number + 1, f"expected {expected}, found {self._quoted}")
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


_GAME: Final = re.compile(f"game ({GAME})")
_RULES: Final = re.compile(f"rules ({POSITIVE})")
_RACE: Final = re.compile(f"race ({TABLE_CODE})/({POSITIVE})")
_START: Final = re.compile(f"start ({NUMBER})")
_CAP: Final = re.compile(f"cap ({CAP})")
_ANY_CAP: Final = re.compile(f"cap {NUMBER}")
_PUBLIC: Final = re.compile("public (yes|no)")
RACER: Final = re.compile(f"racer ({PLAYER}) (person|bot) ({NAME})")
_NEVER_IN_A_NAME: Final = re.compile(NEVER_IN_A_NAME)


def parse_race_lines(reader: RecordReader) -> tuple[str, int, str, int, int, int, bool]:
    """Return game, rules version, table, race number, start in milliseconds, cap in minutes, and public or not.

    Raise `RecordError` if the next lines are not these facts, in this order.
    """
    game = reader.take(_GAME, "the game")[1]
    rules_version = int(reader.take(_RULES, "the version of the rules")[1])
    table, race = reader.take(_RACE, "the race").groups()
    start_at = int(reader.take(_START, "the start")[1])
    cap = int(reader.take(_CAP, "the time limit", _ANY_CAP)[1])
    public = reader.take(_PUBLIC, "'public yes' or 'public no'")[1] == "yes"
    check_limit(reader, cap, public)
    return game, rules_version, table, int(race), start_at, cap, public


def check_limit(reader: RecordReader, cap: int, public: bool) -> None:
    """Raise `RecordError` for a race without a time limit at a public table: no server allows it."""
    if public and not cap:
        reader.refuse("a race at a public table has a time limit")


def checked_racer(reader: RecordReader, number: int, before: str, player: str) -> str:
    """Return the id of the `number`th racer. Raise `RecordError` if there are too many, or it is not above `before`."""
    if number > MOST_RACERS:
        reader.refuse(f"there are more than {MOST_RACERS} racers")
    if player <= before:
        reader.refuse(f"racers are ordered by id, so {player} cannot follow {before}")
    return player


def parse_name(reader: RecordReader, quoted: str) -> str:
    """Return the name in a JSON string that matches `NAME`. Raise `RecordError` if no player can have the name."""
    name = str(json.loads(quoted))
    if not SHORTEST_NAME <= len(name) <= LONGEST_NAME:
        reader.refuse(f"a name has {SHORTEST_NAME} to {LONGEST_NAME} characters: {quoted[:60]}")
    if name.split(" ") != name.split():
        reader.refuse(f"a name has single spaces, and only between words: {quoted[:60]}")
    if _NEVER_IN_A_NAME.search(name):
        reader.refuse(f"this name has characters that are not allowed: {quoted[:60]}")
    return name


def refuse_difference(written: str, text: str) -> None:
    """Raise `RecordError` for the first line of a text that is not as in `written`, the right form."""
    pairs = zip_longest(written.split("\n"), text.split("\n"))
    for number, (right, wrong) in enumerate(pairs, start=1):
        if right != wrong:
            reason = "one line too many" if right is None else f"expected {right[:80]!r}"
            raise RecordError(number, reason)
