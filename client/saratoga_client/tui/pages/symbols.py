"""The few signs that pages use, with letters in their place where the terminal has nothing else."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """Each one cell wide."""

    ready: str
    waiting: str
    away: str
    link: str
    broken_link: str
    mark: str
    """Before one's own row, or what is chosen."""
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
    """Those that the terminal has."""
    return LETTERS if ascii_only else UNICODE
