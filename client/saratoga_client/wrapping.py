"""Wrap messages to the terminal's width, between words only.

Pure. A URL and a command to paste stay on one line, because a line break would change them.
"""

import re
from collections.abc import Iterator
from typing import Final

PROGRAM: Final = "saratoga"

_ENDS: Final = re.compile(r".*[.,;:?!)]")
"""A word at the end of a sentence or a phrase, where a command ends too."""

_OF_COMMAND: Final = re.compile(r"-.*|.*[/:#=\d'\"].*|[A-Z]{2,}[.,;:?!)]?")
"""A word that continues a command: an option, an address, a number, a quoted text, or a placeholder."""


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text; an indented line is a command to paste and stays as it is.

    >>> wrapped("To return: saratoga join ws://10.0.0.2:7470/mint-otter-42", 40)
    ['To return:', 'saratoga join ws://10.0.0.2:7470/mint-otter-42']
    """
    return [each for line in text.split("\n") for each in _filled(line, width)]


def _filled(line: str, width: int) -> Iterator[str]:
    if _cells(line) <= width or line.startswith(" "):
        yield line
        return
    filled = ""
    for unit in _units(line.split()):
        if filled and _cells(filled) + 1 + _cells(unit) > width:
            yield filled
            filled = unit
        else:
            filled = f"{filled} {unit}" if filled else unit
    yield filled


def _cells(text: str) -> int:
    """Return the columns that a text takes on a terminal; a name may have wide characters."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # only here, because every start imports this module

    return cell_len(text)


def _units(words: list[str]) -> Iterator[str]:
    """Yield the words, and each command as one unit."""
    command: list[str] = []
    for word in words:
        if command and _continues(command, word):
            command.append(word)
            continue
        if command:
            yield " ".join(command)
        command = [word] if word == PROGRAM else []
        if not command:
            yield word
    if command:
        yield " ".join(command)


def _continues(command: list[str], word: str) -> bool:
    """Return whether a word belongs to the command before it."""
    last = command[-1]
    if " ".join(command).count("'") % 2:
        # within quotes
        return True
    if _ENDS.fullmatch(last):
        return False
    is_verb_or_value = last == PROGRAM or last.startswith("-") or len(command) == 2
    return is_verb_or_value or _OF_COMMAND.fullmatch(word) is not None
