"""The roles of cells, to each of which a theme gives its colours; and the symbols, with letters for terminals that have only ASCII."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """The role of a cell. Cards have a role for each suit colour in each state."""

    TABLE = "table"
    TEXT = "text"
    DIM = "dim"
    TITLE = "title"
    FRAME = "frame"

    CARD_BLACK = "card-black"
    CARD_RED = "card-red"
    CARD_CLUB = "card-club"
    """Clubs, with four suit colours."""
    CARD_DIAMOND = "card-diamond"
    """Diamonds, with four suit colours."""
    CARD_EDGE = "card-edge"

    PICKED_BLACK = "picked-black"
    PICKED_RED = "picked-red"
    PICKED_CLUB = "picked-club"
    PICKED_DIAMOND = "picked-diamond"
    PICKED_EDGE = "picked-edge"

    TARGET_BLACK = "target-black"
    TARGET_RED = "target-red"
    TARGET_CLUB = "target-club"
    TARGET_DIAMOND = "target-diamond"
    TARGET_EDGE = "target-edge"

    FOUND_BLACK = "found-black"
    FOUND_RED = "found-red"
    FOUND_CLUB = "found-club"
    FOUND_DIAMOND = "found-diamond"
    FOUND_EDGE = "found-edge"

    CARD_BACK = "card-back"
    BACK_COUNT = "back-count"
    """The number on a face-down pile."""
    SPACE = "space"
    SPACE_TARGET = "space-target"

    LABEL = "label"
    KEY = "key"
    KEY_LIT = "key-lit"
    """The key of a pile from which cards can be moved."""
    KEY_TARGET = "key-target"
    """The key of a pile that accepts the selected cards."""
    COUNT = "count"

    MONEY_UP = "money-up"
    MONEY_DOWN = "money-down"
    BAR = "bar"
    BAR_REST = "bar-rest"
    TICK = "tick"
    LEADER = "leader"
    YOU = "you"
    RACER_1 = "racer-1"
    """The colours of the other racers."""
    RACER_2 = "racer-2"
    RACER_3 = "racer-3"
    RACER_4 = "racer-4"
    RACER_5 = "racer-5"
    RACER_6 = "racer-6"
    RACER_7 = "racer-7"
    PRACTICE = "practice"
    """The title line of practice, which must not look like a race."""
    WARNING = "warning"
    ALERT = "alert"
    """A warning that stays until the player answers it."""
    ALARM = "alarm"


def money_role(amount: int) -> Role:
    """Return the role of an amount that was won or lost."""
    return Role.MONEY_DOWN if amount < 0 else Role.MONEY_UP


RACERS: Final = tuple(role for role in Role if role.startswith("racer-"))


def racer_roles(players: Iterable[str], you: str) -> dict[str, Role]:
    """Return the role of each racer by player id, the same in lists, bars and charts."""
    others = sorted(player for player in players if player != you)
    return {each: RACERS[at % len(RACERS)] for at, each in enumerate(others)} | {you: Role.YOU}


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
