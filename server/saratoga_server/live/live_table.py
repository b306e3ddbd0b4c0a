"""A table on one node: its version, its state, and the changes whose effects are still to come."""

import asyncio
from typing import NamedTuple

from msgspec import Struct, field

from saratoga_protocol.events import Table as WireTable
from saratoga_server.domain import tables
from saratoga_server.domain.tables import TableState


class Known(NamedTuple):
    """A table's state and its version."""

    version: int
    state: TableState


class LiveTable(Struct):
    """A table on this node."""

    code: str
    version: int
    state: TableState
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    in_doubt: bool = False
    """True if the reply to a write was lost, so the store may hold a newer version."""
    heard_of: int = 0
    """The newest published version above `version` of which this node was notified; 0: none yet."""
    announced: str = ""
    """The id of the race whose end was last sent to the players here."""
    followed_up: Known | None = None
    """The version up to which this node has carried out the effects; `None`: the present one."""

    @property
    def known(self) -> Known:
        return Known(self.version, self.state)

    def falls_behind(self, known: Known) -> None:
        """Record that the effects of the changes since `known` are still to be carried out."""
        if self.followed_up is None or known.version < self.followed_up.version:
            self.followed_up = known

    def view(self) -> WireTable:
        """Return the public view of the table."""
        return tables.public_view(self.state, self.version)
