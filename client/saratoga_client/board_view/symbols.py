"""The symbols of pages, of the panel and of charts, with letters for terminals that have only ASCII."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """Symbols of one cell each."""

    filled: str
    parts: str
    """The partly filled cells of a bar, the emptiest first."""
    rest: str
    """The rest of a bar, and somebody who is not ready."""
    tick: str
    dots: str
    ready: str
    away: str
    """A player who is away, and a broken link."""
    bot: str
    """The sign after the name of a bot."""
    mark: str
    """The mark before the player's own row or the chosen row."""

    @property
    def steps(self) -> int:
        """The number of steps of one cell of a bar."""
        return len(self.parts) + 1


UNICODE: Final = Symbols(
    filled="█",
    parts="▏▎▍▌▋▊▉",
    rest="·",
    tick="╎",
    dots="…",
    away="○",
    ready="✓",
    bot="°",
    mark="▸",
)

LETTERS: Final = Symbols(
    filled="#",
    parts=".:+",
    rest=".",
    tick="|",
    dots="~",
    away="o",
    ready="+",
    bot="*",
    mark=">",
)


def symbols_for(ascii_only: bool) -> Symbols:
    """Return the symbols that the terminal can show."""
    return LETTERS if ascii_only else UNICODE


_LETTERS: Final = str.maketrans(
    dict(zip("\u2663\u2660\u2665\u2666\u2661\u2662\xb0", "cshdhd*", strict=True))
)


def in_letters(text: str) -> str:
    r"""Return a text with letters in place of the symbols of suits and bots.

    >>> in_letters("Otto\xb0: 10\u2665 from column 2 banked")
    'Otto*: 10h from column 2 banked'
    """
    return text.translate(_LETTERS)
