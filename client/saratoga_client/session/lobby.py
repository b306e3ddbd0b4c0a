"""The lobby's state as a value: tables, leaders, the typed line and the player's choices.

Pure: no I/O, no clock. The texts from the server are as the server sent them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from msgspec import structs

from saratoga_client.local.settings import CAPS, MATCHES
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS
from saratoga_protocol.events import LeaderboardRow, TableSettings, TableSummary
from saratoga_rules.games import GAMES

LONGEST_ENTRY: Final = 300
"""Maximum characters of a typed or pasted line; an invitation is shorter."""


class Purpose(Enum):
    """The purpose of a line that the player types."""

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
    """A request for a line of text from the player."""

    purpose: Purpose
    text: str = ""
    """The initial text of the field, such as a refused name."""
    wrong: str = ""
    """The reason why the previous text was not accepted; empty the first time."""


def one_line(text: str) -> str:
    r"""Return a pasted text as one line without control characters, at most `LONGEST_ENTRY` long.

    >>> one_line("race me:\n\x1b saratoga join mint-otter-42\n")
    'race me:  saratoga join mint-otter-42 '
    """
    line = "".join(sign for sign in " ".join(text.split("\n")) if sign.isprintable())
    return line[:LONGEST_ENTRY]


@dataclass(frozen=True, slots=True, kw_only=True)
class LobbyState:
    """All data that the lobby shows."""

    server: str
    is_open: bool = False
    """True while connected to the server."""
    has_tried: bool = False
    """True after the first attempt to connect, successful or not."""
    wrong: str = ""
    """The reason why no server answers, with a remedy; empty without a failure."""
    name: str = ""
    """The player's name at this server; empty for none."""
    seat: str = ""
    """The code of the table where the player still has a seat, or of the last one if it is open."""
    is_seated: bool = False
    """True if the player has a seat at the table `seat`."""
    is_listed: bool = False
    """True once the server has sent its public tables."""
    tables: tuple[TableSummary, ...] = ()
    leaders: Mapping[str, LeaderboardRow | None] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Today's leader of each game; `None` if there is none."""
    chosen: str = ""
    """The code of the selected table, which the key `enter` joins."""
    entry: Entry | None = None
    form: TableSettings | None = None
    """The settings of the new table that the player prepares; `None` without one."""
    is_practice: bool = False
    """True while the player chooses a game for practice."""
    is_local: bool = False
    """True if the new table will be on a server on this machine."""
    runs_here: bool | None = None
    """Whether a server runs on this machine; `None` until the lobby knows it."""

    def with_server(self, name: str, seat: str) -> "LobbyState":
        """Return the lobby of a server that answers."""
        return replace(
            self, is_open=True, has_tried=True, wrong="", name=name, seat=seat, is_seated=bool(seat)
        )

    def without_server(self, wrong: str) -> "LobbyState":
        """Return the lobby of a server that does not answer; `wrong` is the reason."""
        return replace(
            self,
            is_open=False,
            has_tried=True,
            wrong=wrong,
            is_listed=False,
            tables=(),
            leaders=MappingProxyType({}),
        )

    def with_link(self, is_open: bool) -> "LobbyState":
        """Return the lobby after the connection was lost or restored."""
        return replace(self, is_open=is_open)

    def with_leader(self, game: str, leader: LeaderboardRow | None) -> "LobbyState":
        """Return the lobby with the leader of a game."""
        return replace(self, leaders=MappingProxyType({**self.leaders, game: leader}))

    def with_tables(self, tables: Sequence[TableSummary]) -> "LobbyState":
        """Return the lobby with these tables; the chosen table, if not listed any more, is the first."""
        codes = [table.code for table in tables]
        chosen = self.chosen if self.chosen in codes else (codes[0] if codes else "")
        return replace(self, is_listed=True, tables=tuple(tables), chosen=chosen)

    def with_next_table(self, by: int) -> "LobbyState":
        """Return the lobby with another table chosen, `by` lines below; the list wraps around."""
        codes = [table.code for table in self.tables]
        if not codes:
            return self
        place = codes.index(self.chosen) if self.chosen in codes else -1
        return replace(self, chosen=codes[(place + by) % len(codes)])


def next_game(form: TableSettings) -> TableSettings:
    """Return the form with the next game."""
    names = list(GAMES)
    return structs.replace(form, game=names[(names.index(form.game) + 1) % len(names)])


def next_cap(form: TableSettings) -> TableSettings:
    """Return the form with the next time limit; only private tables may have none."""
    caps = [cap for cap in CAPS if cap or not form.public]
    return structs.replace(form, cap=caps[(caps.index(form.cap) + 1) % len(caps)])


def other_publicity(form: TableSettings) -> TableSettings:
    """Switch between public and private; a public table has a time limit."""
    is_public = not form.public
    return structs.replace(form, public=is_public, cap=form.cap or (10 if is_public else 0))


def next_races(form: TableSettings) -> TableSettings:
    """Return the form with the next length of a match."""
    return structs.replace(form, races=MATCHES[(MATCHES.index(form.races) + 1) % len(MATCHES)])


def more_seats(form: TableSettings, by: int) -> TableSettings:
    """Return the form with more or fewer seats."""
    return structs.replace(form, seats=max(FEWEST_SEATS, min(MOST_SEATS, form.seats + by)))
