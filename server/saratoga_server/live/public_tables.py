"""The list of public tables, updated as the tables change.

One address has `MOST_PLACES` places in the list, so that nobody can fill it. Tables count by the
address from which they were opened, an IPv6 address by its household. It is stored only as a hash
with a key of the store.
"""

import asyncio
import hmac
from collections.abc import Collection

import msgspec
from msgspec import Struct

from saratoga_protocol.commands import ListTables
from saratoga_protocol.events import Tables, TableSummary
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, TablePhase, TableState
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.ports import Millis
from saratoga_server.rate_limits.addresses import HOUSEHOLD_PREFIX, network_of
from saratoga_server.store.tables import TableStore


class Listing(Struct, frozen=True):
    """A table's line in the list."""

    summary: bytes
    opener: str
    people: int
    """The number of connected people at the table."""


class PublicTables:
    """The list of public tables, kept in the store."""

    def __init__(self, store: TableStore, table_cache: TableCache) -> None:
        self._store = store
        self._table_cache = table_cache
        self._lines: dict[str, Listing | None] = {}
        """The line last written for each table on this node; `None`: not listed."""
        self._without_place: set[str] = set()
        """The tables whose players know that the list has no place for them."""
        self._followers: dict[Session, list[TableSummary]] = {}
        """The connections that follow the list, each with the list last sent."""
        self._address_key = b""
        self._writing = asyncio.Lock()
        """Held while a line is written, so that an older line never arrives after a newer one."""

    async def list_tables(self, session: Session, command: ListTables) -> Tables:
        """Return the public tables. A list that the connection follows is sent again whenever it changes."""
        listed = await self._listed()
        self.unfollow(session)
        if command.follow:
            self._followers[session] = listed
        return Tables(re=command.id, tables=listed)

    async def send_changes(self) -> None:
        """Send the list to the connections that follow it, if it has changed. Called once a second."""
        if not self._followers:
            return
        listed = await self._listed()
        for session, known in list(self._followers.items()):
            if known != listed:
                self._followers[session] = listed
                session.send(Tables(tables=listed))

    def unfollow(self, session: Session) -> None:
        self._followers.pop(session, None)

    async def _listed(self) -> list[TableSummary]:
        summaries = await self._store.list_public()
        return [msgspec.msgpack.decode(each, type=TableSummary) for each in summaries]

    async def opener_of(self, session: Session) -> str:
        """Return a keyed hash of the connection's address; empty if no limits hold for it."""
        if not session.quota.is_limited_by_address:
            return ""
        self._address_key = self._address_key or await self._store.address_key()
        network = network_of(session.address, HOUSEHOLD_PREFIX)
        return hmac.digest(self._address_key, network.encode(), "sha256").hex()

    async def opened(self, live_table: LiveTable) -> None:
        """List a new table, if it is public."""
        self._lines[live_table.code] = None
        await self.update(live_table)

    async def update(self, live_table: LiveTable) -> None:
        """Write the table's line to the store if it has changed."""
        code = live_table.code
        if code in self._lines and self._lines[code] == _line(live_table.state):
            return
        async with self._writing:
            line = _line(live_table.state)
            self._lines.pop(code, None)  # unknown until the write is answered
            if line is None:
                await self._store.set_public(code, None)
                is_listed = True
            else:
                is_listed = await self._store.set_public(
                    code, line.summary, line.opener, line.people
                )
            self._lines[code] = line
        if is_listed:
            self._without_place.discard(code)
        elif code not in self._without_place:
            self._without_place.add(code)
            await self._table_cache.change(code, _unlisted)

    async def closed(self, code: str) -> None:
        """Remove a closed table from the list."""
        self._lines.pop(code, None)
        self._without_place.discard(code)
        async with self._writing:
            await self._store.set_public(code, None)

    def forget_others(self, held: Collection[str]) -> None:
        """Drop the lines of tables that this node does not hold any more."""
        self._without_place.intersection_update(held)
        if len(self._lines) > len(held):
            self._lines = {code: self._lines[code] for code in held if code in self._lines}


def _line(state: TableState) -> Listing | None:
    """Return the table's line; `None` if it is not to be listed."""
    is_open = state.phase is not TablePhase.CLOSED and bool(state.seats)
    if not is_open or not state.settings.public or state.locked:
        return None
    summary = TableSummary(
        code=state.code,
        game=state.settings.game,
        cap=state.settings.cap,
        host=state.name(state.host),
        phase=state.phase.value,
        seated=len(state.seats),
        seats=state.settings.seats,
    )
    people = sum(seat.is_connected and not seat.bot for seat in state.seats)
    return Listing(msgspec.msgpack.encode(summary), state.opened_from, people)


def _unlisted(state: TableState, now: Millis) -> Change:
    return tables.unlisted(state)
