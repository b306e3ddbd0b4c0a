"""The lobby as a value: what a player sees before a table, and what is being typed or chosen there.

Pure: no I/O, no clock. The house's words come in as they are; whoever draws them makes them harmless.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from saratoga_client.local.setting_values import CAPS, FEWEST_SEATS, MOST_SEATS
from saratoga_client.session.join import TableWanted
from saratoga_protocol.events import LeaderboardRow, TableSummary
from saratoga_rules.games import GAMES

LONGEST_ENTRY: Final = 300
"""Characters typed or pasted; an invitation is shorter."""


class Purpose(Enum):
    """What a typed line is for."""

    NAME = auto()
    TABLE = auto()
    WATCH = auto()
    SERVER = auto()


PROMPTS: Final[Mapping[Purpose, str]] = MappingProxyType(
    {
        Purpose.NAME: "Your name",
        Purpose.TABLE: "Code or URL of the table",
        Purpose.WATCH: "Code or URL of the table to watch",
        Purpose.SERVER: "Address of the server",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that the player is asked for."""

    purpose: Purpose
    text: str = ""
    """The text to begin with, such as the one that was refused."""
    wrong: str = ""
    """Why the line is asked for again; empty the first time."""


def one_line(text: str) -> str:
    r"""Return a pasted text as one line without control characters, at most `LONGEST_ENTRY` long.

    >>> one_line("race me:\n\x1b saratoga join mint-otter-42\n")
    'race me:  saratoga join mint-otter-42 '
    """
    line = "".join(sign for sign in " ".join(text.split("\n")) if sign.isprintable())
    return line[:LONGEST_ENTRY]


@dataclass(frozen=True, slots=True, kw_only=True)
class LobbyState:
    """All that the lobby shows."""

    server: str
    is_open: bool = False
    """Whether the house answers."""
    is_met: bool = False
    """Whether it has answered since the player came, or was found not to."""
    wrong: str = ""
    """Why no house answers, and what to do; empty as long as that is not known."""
    name: str = ""
    """Empty: none at this house yet."""
    seat: str = ""
    """The code of a table where the player has a seat from before."""
    tables: tuple[TableSummary, ...] = ()
    leaders: Mapping[str, LeaderboardRow | None] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """The best of today by game; `None`: nobody yet."""
    chosen: str = ""
    """The code of the table that `enter` goes to."""
    entry: Entry | None = None
    form: TableWanted | None = None
    """A table about to be opened."""
    is_practice: bool = False
    """A game is being chosen for practice."""
    is_here: bool = False
    """The table about to be opened is to be in a house on this machine."""

    def with_tables(self, tables: Sequence[TableSummary]) -> "LobbyState":
        """The list is another; what was chosen stays so if it is still there."""
        codes = [table.code for table in tables]
        chosen = self.chosen if self.chosen in codes else (codes[0] if codes else "")
        return replace(self, tables=tuple(tables), chosen=chosen)

    def with_next_table(self, by: int) -> "LobbyState":
        """The table so many lines below is the chosen one; the list has no ends."""
        codes = [table.code for table in self.tables]
        if not codes:
            return self
        place = codes.index(self.chosen) if self.chosen in codes else -1
        return replace(self, chosen=codes[(place + by) % len(codes)])


def next_game(form: TableWanted) -> TableWanted:
    """The game after this one."""
    names = list(GAMES)
    return replace(form, game=names[(names.index(form.game) + 1) % len(names)])


def next_cap(form: TableWanted) -> TableWanted:
    """The next cap; none only at a private table."""
    caps = [cap for cap in CAPS if cap or not form.public]
    return replace(form, cap=caps[(caps.index(form.cap) + 1) % len(caps)])


def other_publicity(form: TableWanted) -> TableWanted:
    """Public or private; a public table has a cap."""
    is_public = not form.public
    return replace(form, public=is_public, cap=form.cap or (10 if is_public else 0))


def more_seats(form: TableWanted, by: int) -> TableWanted:
    """So many seats more, or fewer."""
    return replace(form, seats=max(FEWEST_SEATS, min(MOST_SEATS, form.seats + by)))
