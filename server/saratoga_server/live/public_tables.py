"""The list of public tables: what everybody may know of them, brought up to date as they change."""

from collections.abc import Collection

import msgspec

from saratoga_protocol.commands import ListTables
from saratoga_protocol.events import Tables, TableSummary
from saratoga_server.domain.tables import Phase
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.session import Session
from saratoga_server.ports import TableStore


class PublicTables:
    """Keeps the list in the store, and serves it."""

    def __init__(self, tables: TableStore) -> None:
        self._tables = tables
        self._lines: dict[str, bytes | None] = {}
        """What was last written of each table that is held here; `None`: that it is not listed."""

    async def list_tables(self, session: Session, command: ListTables) -> Tables:
        """The public tables."""
        summaries = await self._tables.list_public()
        return Tables(
            re=command.id,
            tables=[msgspec.msgpack.decode(each, type=TableSummary) for each in summaries],
        )

    async def opened(self, live_table: LiveTable) -> None:
        """A new table: nothing is written of it yet."""
        self._lines[live_table.code] = None
        await self.bring_up_to_date(live_table)

    async def bring_up_to_date(self, live_table: LiveTable) -> None:
        """Write the table's line, if it has changed."""
        state = live_table.state
        line = None
        if state.settings.public and state.phase is not Phase.CLOSED and state.seats:
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
            self._lines[live_table.code] = line
            await self._tables.set_public(live_table.code, line)

    async def closed(self, code: str) -> None:
        """The table is gone."""
        self._lines.pop(code, None)
        await self._tables.set_public(code, None)

    def forget_others(self, held: Collection[str]) -> None:
        """Of tables that are not held here any more it need not be known how they are listed."""
        if len(self._lines) > len(held):
            self._lines = {code: self._lines[code] for code in held if code in self._lines}
