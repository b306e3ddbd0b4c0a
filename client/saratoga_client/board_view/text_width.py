"""Texts measured, cut and wrapped in cells of the terminal; a character may take two cells.

The texts may come from others and are returned as they are. A control character counts as many cells
as `Canvas` and `Ink` need to show it: 8 for `<U+001B>`.
"""

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from saratoga_client.sanitised import sanitised
from saratoga_client.wording import BOT_LEVELS, bot_mark


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSymbols:
    """The symbols of the panel, one cell each."""

    filled: str
    rest: str
    tick: str
    dots: str
    away: str
    states: dict[str, str]
    """The symbol by the state of a board."""
    corners: str
    """Corners and ends: top left, top right, bottom left, bottom right, left end, right end."""
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
        "cash-out": "$",
        "stuck": "✗",
        "out-of-time": "!",
        "left": "-",
        "gone": "-",
        "ended-by-host": "-",
        "idle": "-",
        "bots-stopped": "-",
        "ended-by-vote": "-",
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


def cells_of(text: str) -> int:
    r"""Return the number of cells that a text takes on the screen.

    >>> cells_of("Anna"), cells_of("王小明"), cells_of("\x1b")
    (4, 6, 8)
    """
    return cell_len(text if text.isascii() and text.isprintable() else sanitised(text))


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


LEAST_NAME: Final = 5
"""Cells of a name that a bot's level must leave."""


def fitted_name(name: str, bot: bool, level: str, cells: int, dots: str = "…") -> str:
    """Return a name of exactly `cells` cells (at least 7 for a bot); a bot's mark is never cut.

    Where the mark with the level would cut the name, `[weak]` stands for a weak bot of this program.
    Where little of the name would be left, the level is omitted.

    >>> fitted_name("Maximilian", True, "weak", 21), fitted_name("Maximilian", True, "weak", 14)
    ('Maximilian [weak bot]', 'Maximi… [weak]')
    >>> fitted_name("Maximilian", True, "weak", 11)
    'Maxi… [bot]'
    """
    if not bot:
        return fitted(name, cells, dots)
    mark = f" {bot_mark(level)}"
    if cells_of(name) + cells_of(mark) > cells:
        mark = f" [{level}]" if level in BOT_LEVELS else f" {bot_mark()}"
        if cells - cells_of(mark) < min(cells_of(name), LEAST_NAME):
            mark = f" {bot_mark()}"
    cut = fitted(name, max(1, min(cells_of(name), cells - cells_of(mark))), dots).rstrip() + mark
    return cut + " " * (cells - cells_of(cut))


def wrapped(text: str, cells: int, indent: int = 0) -> list[str]:
    """Return a text in lines of at most `cells` cells, broken between words if possible.

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
        is_too_long = cells_of(word) > cells - indent
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
        while cells_of(line) > cells:
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
