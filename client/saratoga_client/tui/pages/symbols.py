"""The symbols that pages use, with letters for terminals that have only ASCII."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSymbols:
    """Symbols of one cell each."""

    ready: str
    waiting: str
    away: str
    link: str
    broken_link: str
    mark: str
    """The mark before the player's own row or the chosen row."""
    filled: str
    rest: str
    tick: str
    dots: str


UNICODE: Final = PageSymbols(
    ready="✓",
    waiting="·",
    away="○",
    link="●",
    broken_link="○",
    mark="▸",
    filled="█",
    rest="·",
    tick="╎",
    dots="…",
)

LETTERS: Final = PageSymbols(
    ready="+",
    waiting=".",
    away="o",
    link="*",
    broken_link="o",
    mark=">",
    filled="=",
    rest=".",
    tick="|",
    dots="~",
)


def page_symbols(ascii_only: bool) -> PageSymbols:
    """Return the symbols that the terminal can show."""
    return LETTERS if ascii_only else UNICODE
