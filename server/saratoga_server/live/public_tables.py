"""The list of public tables, updated as the tables change."""

from collections.abc import Collection

import msgspec

from saratoga_protocol.commands import ListTables
from saratoga_protocol.events import Tables, TableSummary
from saratoga_server.domain.tables import TablePhase
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.session import Session
from saratoga_server.ports import TableStore


class PublicTables:
    """The list of public tables, kept in the store."""

    def __init__(self, tables: TableStore) -> None:
        self._tables = tables
        self._lines: dict[str, bytes | None] = {}
        """The summary last written for each table on this node; `None`: not listed."""

    async def list_tables(self, session: Session, command: ListTables) -> Tables:
        """Return the public tables."""
        summaries = await self._tables.list_public()
        return Tables(
            re=command.id,
            tables=[msgspec.msgpack.decode(each, type=TableSummary) for each in summaries],
        )

    async def opened(self, live_table: LiveTable) -> None:
        """List a new table, if it is public."""
        self._lines[live_table.code] = None
        await self.update(live_table)

    async def update(self, live_table: LiveTable) -> None:
        """Write the table's summary to the store if it has changed."""
        state = live_table.state
        line = None
        is_listed = state.settings.public and not state.locked
        if is_listed and state.phase is not TablePhase.CLOSED and state.seats:
            line = msgspec.msgpack.encode(
                TableSummary(
                    code=state.code,
                    game=state.settings.game,
                    cap=state.settings.cap,
                    host=state.name(state.host),
                    phase=state.phase,
                    seated=len(state.seats),
                    seats=state.settings.seats,
                )
            )
        if live_table.code not in self._lines or self._lines[live_table.code] != line:
            self._lines.pop(live_table.code, None)  # unknown until the write is answered
            await self._tables.set_public(live_table.code, line)
            self._lines[live_table.code] = line

    async def closed(self, code: str) -> None:
        """Remove a closed table from the list."""
        self._lines.pop(code, None)
        await self._tables.set_public(code, None)

    def forget_others(self, held: Collection[str]) -> None:
        """Drop the summaries of tables that this node does not hold any more."""
        if len(self._lines) > len(held):
            self._lines = {code: self._lines[code] for code in held if code in self._lines}
