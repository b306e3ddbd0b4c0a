"""The symbols of pages, of the panel and of charts, with letters for terminals that have only ASCII."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """Symbols of one cell each."""

    filled: str
    rest: str
    tick: str
    dots: str
    away: str
    ready: str
    waiting: str
    link: str
    broken_link: str
    mark: str
    """The mark before the player's own row or the chosen row."""
    states: dict[str, str]
    """The symbol by the state of a board."""
    corners: str
    """Corners and ends: top left, top right, bottom left, bottom right, left end, right end."""
    across: str
    upright: str


UNICODE: Final = Symbols(
    filled="█",
    rest="·",
    tick="╎",
    dots="…",
    away="○",
    ready="✓",
    waiting="·",
    link="●",
    broken_link="○",
    mark="▸",
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

LETTERS: Final = Symbols(
    filled="#",
    rest=".",
    tick="|",
    dots="~",
    away="o",
    ready="+",
    waiting=".",
    link="*",
    broken_link="o",
    mark=">",
    states={**UNICODE.states, "racing": ">", "stuck": "x"},
    corners="++++++",
    across="-",
    upright="|",
)


def symbols_for(ascii_only: bool) -> Symbols:
    """Return the symbols that the terminal can show."""
    return LETTERS if ascii_only else UNICODE
