"""The steps that lead out of the lobby: tables, practice, other servers, the end.

Values only; the lobby's flow carries them out.
"""

from dataclasses import dataclass
from typing import TypeAlias

from saratoga_client.session.join import TableWanted
from saratoga_client.session.table_session import TableSession
from saratoga_protocol import events


@dataclass(frozen=True, slots=True)
class AtTable:
    """The next step: a table where the player has a seat, or which the player watches."""

    session: TableSession
    table: events.Table


@dataclass(frozen=True, slots=True)
class Practising:
    """The next step: practice of a game."""

    game: str


@dataclass(frozen=True, slots=True)
class HostHere:
    """The next step: a new table at a server on this machine."""

    table: TableWanted


@dataclass(frozen=True, slots=True)
class OtherServer:
    """The next step: another server, and a table there unless `code` is empty."""

    server: str
    code: str = ""
    is_watching: bool = False


@dataclass(frozen=True, slots=True)
class Quit:
    """The next step: the end of this lobby."""


Leaving: TypeAlias = HostHere | OtherServer | Quit
"""The reason for leaving the lobby of one server."""


@dataclass(frozen=True, slots=True)
class FirstTable:
    """A table that the player joins, watches or creates as soon as the server answers."""

    table: str | TableWanted
    """The code of a table, or the settings of a new one."""
    is_watching: bool = False
