"""A table as one node knows it: which version, and what of that it has not followed up yet."""

import asyncio
from typing import NamedTuple

from msgspec import Struct, field

from saratoga_protocol.events import Table as WireTable
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Refusal, TableState
from saratoga_server.logs import EventLog

log = EventLog("room")


class Known(NamedTuple):
    """A table as it was at one version."""

    version: int
    state: TableState


class LiveTable(Struct):
    """A table on this node."""

    code: str
    version: int
    state: TableState
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    timer: asyncio.TimerHandle | None = None
    in_doubt: bool = False
    """The answer to a write was lost: the store may know better."""
    heard: int = 0
    """The newest version that anybody told of."""
    announced: str = ""
    """The race whose end was told here last."""
    behind: Known | None = None
    """The table up to which this node has done what changes mean, if that is not `state`."""

    @property
    def known(self) -> Known:
        return Known(self.version, self.state)

    def falls_behind(self, known: Known) -> None:
        """What has changed since `known` is not followed up yet."""
        if self.behind is None or known.version < self.behind.version:
            self.behind = known

    def picture(self) -> WireTable:
        """The table as everyone at it sees it."""
        return tables.public_view(self.state, self.version)


class PendingLoad(Struct):
    """A table that is on its way from the store, for however many have asked."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    asked: int = 0
    """How many wait for it."""
    promised: int = 0
    """The newest version that was told of meanwhile."""


def read_table(body: bytes) -> TableState:
    """The table; a `Refusal` if only a newer node may read it, as there are some during an upgrade."""
    try:
        return tables.unpack(body)
    except tables.NewerTable as fault:
        log.warning("table_for_newer_nodes", reason=str(fault))
        raise Refusal(
            "draining", "That table has gone over to newer servers. Connect again and go on there."
        ) from None
