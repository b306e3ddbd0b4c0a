"""Texts measured, cut and wrapped in cells of the terminal; a character may take two cells.

Pure. The texts may come from others and are returned as they are. A control character counts as
many cells as `saratoga_protocol.visible_text.sanitised` needs to show it: 8 for `<U+001B>`.
"""

import re
from typing import Final

from saratoga_protocol.visible_text import sanitised


def cells_of(text: str) -> int:
    r"""Return the number of cells that a text takes on the screen.

    >>> cells_of("Anna"), cells_of("王小明"), cells_of("\x1b")
    (4, 6, 8)
    """
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len  # only here, because every start imports this module

    return cell_len(sanitised(text))


def fitted(text: str, cells: int, dots: str = "…") -> str:
    """Return a text of exactly `cells` cells: filled with blanks, or cut and ended by dots.

    >>> fitted("Anna", 6), fitted("Annabella", 6), fitted("王小明王小明", 6)
    ('Anna  ', 'Annab…', '王小… ')
    """
    if cells_of(text) > cells:
        while text and cells_of(text) > cells - 1:
            text = text[:-1]
        text = (text + dots)[:cells] if cells > 0 else ""
    return text + " " * (cells - cells_of(text))


def wrapped(text: str, cells: int, indent: int = 0, *, breaks: bool = True) -> list[str]:
    """Return a text in lines of at most `cells` cells, broken between words if possible.

    Without `breaks` a word that is longer than a line stays whole.

    >>> wrapped("2:51 mei is stuck", 10, indent=5)
    ['2:51 mei', '     is', '     stuck']
    >>> wrapped("ana", -4)
    ['a', 'n', 'a']
    """
    # A screen without layout has no width yet. A character may take two cells.
    cells = max(cells, indent + 2 if indent else 1)
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        is_too_long = breaks and cells_of(word) > cells - indent
        if is_too_long and cells_of(line) + 2 < cells:
            # The word is too long for a line: begin it on this line.
            line = longer
        elif cells_of(longer) <= cells:
            line = longer
            continue
        else:
            if line.strip():
                lines.append(line)
            line = " " * indent + word if lines else word
        while breaks and cells_of(line) > cells:
            head = _head(line, cells)
            lines.append(head)
            line = " " * indent + line[len(head) :]
    return [*lines, line] if line.strip() else lines


def _head(text: str, cells: int) -> str:
    """Return the longest prefix of a text that fits, at least one character after its indent."""
    end = len(text)
    least = min(end, end - len(text.lstrip(" ")) + 1)
    while end > least and cells_of(text[:end]) > cells:
        end -= 1
    return text[:end]


_COMMAND: Final = re.compile(
    r"(?<!\S)saratoga(?!\S)(?: (?:'[^']*'|[^\s'])+?)*?(?=[.,;:?!)](?: |$)|$)"
)
"""A command in a message, up to the end of its phrase."""

_JOINED: Final = "\xa0"
"""The no-break space, which joins the words of a command while a message is wrapped."""


def message_lines(text: str, cells: int) -> list[str]:
    """Return the lines of a message to the player, broken between words only.

    A URL and a command to paste stay on one line, because a line break would change them. An
    indented line is a command and stays as it is.

    >>> message_lines("To return: saratoga join ws://10.0.0.2:7470/mint-otter-42", 40)
    ['To return:', 'saratoga join ws://10.0.0.2:7470/mint-otter-42']
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if cells_of(line) <= cells or line.startswith(" "):
            lines.append(line)
        else:
            text = _COMMAND.sub(
                lambda command: command[0].replace(" ", _JOINED), " ".join(line.split())
            )
            lines += [each.replace(_JOINED, " ") for each in wrapped(text, cells, breaks=False)]
    return lines
