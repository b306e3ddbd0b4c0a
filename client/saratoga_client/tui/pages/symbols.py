"""The symbols that pages use, with letters for terminals that have only ASCII."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """Symbols of one cell each."""

    ready: str
    waiting: str
    away: str
    link: str
    broken_link: str
    mark: str
    """Stands before the player's own row, or before the chosen one."""
    line: str
    filled: str
    rest: str
    tick: str
    dots: str


UNICODE: Final = Signs(
    ready="✓",
    waiting="·",
    away="○",
    link="●",
    broken_link="○",
    mark="▸",
    line="─",
    filled="█",
    rest="·",
    tick="╎",
    dots="…",
)

LETTERS: Final = Signs(
    ready="+",
    waiting=".",
    away="o",
    link="*",
    broken_link="o",
    mark=">",
    line="-",
    filled="=",
    rest=".",
    tick="|",
    dots="~",
)


def signs(ascii_only: bool) -> Signs:
    """Return the symbols that the terminal can show."""
    return LETTERS if ascii_only else UNICODE
