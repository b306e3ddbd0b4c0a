"""The symbols of the panel and of charts, one cell each."""

from dataclasses import dataclass
from typing import Final


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
