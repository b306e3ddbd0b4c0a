"""A table as one node knows it: which version, and which of its changes are still to be followed up."""

import asyncio
from typing import NamedTuple

from msgspec import Struct, field

from saratoga_protocol.events import Table as WireTable
from saratoga_server.domain import tables
from saratoga_server.domain.tables import CommandRejected, TableState
from saratoga_server.logs import EventLog

log = EventLog("tables")


class Known(NamedTuple):
    """A table at one version."""

    version: int
    state: TableState


class LiveTable(Struct):
    """A table on this node."""

    code: str
    version: int
    state: TableState
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    in_doubt: bool = False
    """The reply to a write was lost: the store may hold a newer version."""
    heard_of: int = 0
    """The newest version that any node has published."""
    announced: str = ""
    """The race whose end was last sent to the players here."""
    followed_up: Known | None = None
    """The version up to which this node has carried out what changes mean; `None`: the present one."""

    @property
    def known(self) -> Known:
        return Known(self.version, self.state)

    def falls_behind(self, known: Known) -> None:
        """Note that what has changed since `known` is still to be followed up."""
        if self.followed_up is None or known.version < self.followed_up.version:
            self.followed_up = known

    def view(self) -> WireTable:
        """Return the table as everyone at it may see it."""
        return tables.public_view(self.state, self.version)


def read_table(body: bytes) -> TableState:
    """Unpack a table. Raises `CommandRejected` if only a newer node may read it, as during an upgrade."""
    try:
        return tables.unpack(body)
    except tables.NewerTable as fault:
        log.warning("table_for_newer_nodes", reason=str(fault))
        raise CommandRejected(
            "draining", "That table has moved to newer servers. Connect again and continue there."
        ) from None
