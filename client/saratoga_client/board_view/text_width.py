"""Texts cut or wrapped to a number of cells; a character may take two cells."""

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from saratoga_client.sanitised import sanitised
from saratoga_client.wording import BOT_MARK


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSymbols:
    """The symbols of the panel, one cell each."""

    filled: str
    rest: str
    tick: str
    dots: str
    away: str
    states: dict[str, str]
    """By the state of a board."""
    corners: str
    """Top left, top right, bottom left, bottom right, left and right end of a line."""
    across: str
    upright: str


UNICODE: Final = PanelSymbols(
    filled="█",
    rest="·",
    tick="╎",
    dots="…",
    away="○",
    states={
        "racing": "▸",
        "won": "*",
        "cashed out": "$",
        "stuck": "✗",
        "out of time": "!",
        "left": "-",
    },
    corners="┌┐└┘├┤",
    across="─",
    upright="│",
)

LETTERS: Final = PanelSymbols(
    filled="#",
    rest=".",
    tick="|",
    dots="~",
    away="o",
    states={**UNICODE.states, "racing": ">", "stuck": "x"},
    corners="++++++",
    across="-",
    upright="|",
)


def panel_symbols(ascii_only: bool) -> PanelSymbols:
    return LETTERS if ascii_only else UNICODE


def fitted(text: str, cells: int, dots: str = "…") -> str:
    """Return a text of exactly `cells` cells: filled with blanks, or cut and ended by dots.

    >>> fitted("Anna", 6), fitted("Annabella", 6), fitted("王小明王小明", 6)
    ('Anna  ', 'Annab…', '王小… ')
    """
    if cell_len(text) > cells:
        while text and cell_len(text) > cells - 1:
            text = text[:-1]
        text = (text + dots)[:cells] if cells > 0 else ""
    return text + " " * (cells - cell_len(text))


def fitted_name(name: str, bot: bool, cells: int, dots: str = "…") -> str:
    """Return a sanitised name of exactly `cells` cells; the mark of a bot is never cut.

    >>> fitted_name("Maximilian", True, 12)
    'Maxim… [bot]'
    """
    mark = f" [{BOT_MARK}]" if bot else ""
    name = sanitised(name)
    if cell_len(name) + len(mark) <= cells:
        return fitted(name + mark, cells, dots)
    cut = fitted(name, max(1, cells - len(mark)), dots).rstrip() + mark
    return cut + " " * (cells - cell_len(cut))


def wrapped(text: str, cells: int, indent: int = 0) -> list[str]:
    """Return a text in lines of at most `cells` cells, broken between words if possible.

    >>> wrapped("2:51 mei is stuck", 10, indent=5)
    ['2:51 mei', '     is', '     stuck']
    >>> wrapped("ana", -4)
    ['a', 'n', 'a']
    """
    # a screen without layout has no width yet; a character may take two cells
    cells = max(cells, indent + 2 if indent else 1)
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        is_too_long = cell_len(word) > cells - indent
        if is_too_long and cell_len(line) + 2 < cells:
            # the word must be broken anyway: begin it on this line
            line = longer
        elif cell_len(longer) <= cells:
            line = longer
            continue
        else:
            if line.strip():
                lines.append(line)
            line = " " * indent + word if lines else word
        while cell_len(line) > cells:
            head = _head(line, cells)
            lines.append(head)
            line = " " * indent + line[len(head) :]
    return [*lines, line] if line.strip() else lines


def _head(text: str, cells: int) -> str:
    """Return as much of a text as fits, at least one character."""
    end = len(text)
    while end > 1 and cell_len(text[:end]) > cells:
        end -= 1
    return text[:end]
