"""The symbols of pages, of the panel and of charts, with letters for terminals that have only ASCII."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """Symbols of one cell each."""

    filled: str
    rest: str
    """The rest of a bar, and somebody who is not ready."""
    tick: str
    dots: str
    ready: str
    link: str
    away: str
    """A player who is away, and a broken link."""
    mark: str
    """The mark before the player's own row or the chosen row."""
    states: dict[str, str]
    """The symbol by the state of a board; other boards have ended without a result."""
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
    link="●",
    mark="▸",
    states={"racing": "▸", "won": "*", "cash-out": "$", "stuck": "✗", "out-of-time": "!"},
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
    link="*",
    mark=">",
    states={**UNICODE.states, "racing": ">", "stuck": "x"},
    corners="++++++",
    across="-",
    upright="|",
)


def symbols_for(ascii_only: bool) -> Symbols:
    """Return the symbols that the terminal can show."""
    return LETTERS if ascii_only else UNICODE
