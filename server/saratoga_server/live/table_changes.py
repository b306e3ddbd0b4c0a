"""Changes of tables, each followed by its effects.

A transition (`domain.tables`) returns the next table and its effects. When that table is durable,
the effects are carried out. For a change made by another node, or whose reply was lost, the effects
are derived by comparing the table with this node's older copy. Effects that fail are repeated
later.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable

from saratoga_server.background_tasks import run_each_logged, run_logged
from saratoga_server.domain.tables import Change, CommandRejected, TablePhase, TableState
from saratoga_server.live.live_table import Known, LiveTable
from saratoga_server.live.races import RaceCache
from saratoga_server.live.table_cache import Applied, TableCache, Transition
from saratoga_server.ports import RaceFinish


class TableChanges(ABC):
    """The part that changes tables; a subclass says what the effects are."""

    def __init__(self, table_cache: TableCache, races: RaceCache) -> None:
        self._table_cache = table_cache
        self._races = races

    @abstractmethod
    async def _carry_out(self, applied: Applied, change: Change) -> None:
        """Carry out the effects of a change that this node has made."""

    @abstractmethod
    async def _follow(self, table: LiveTable, known: TableState) -> None:
        """Carry out the effects of the change from `known` to the present table."""

    @abstractmethod
    def _lose_seats(self, held: LiveTable, reason: str) -> None:
        """Take the seats of a table that the store does not have any more, and tell its players."""

    async def change(
        self, code: str, transition: Transition, finish: RaceFinish | None = None
    ) -> LiveTable:
        """Change a table, carry out the effects, and return the table.

        Nothing has changed if it raises `CommandRejected`.
        """
        held = self._table_cache.known(code)
        try:
            applied = await self._table_cache.change(code, transition, finish)
        except CommandRejected as refusal:
            await self._check_lost(held, refusal)
            raise
        finally:
            if (known := self._table_cache.known(code)) is not None:
                await self.catch_up(known)
        if applied.change is not None:
            await self._followed_up(
                applied.table, applied.before, self._carry_out(applied, applied.change)
            )
        return applied.table

    async def refresh(self, code: str, version: int | None = None) -> None:
        """Read a cached table again, and carry out the effects of its changes."""
        held = self._table_cache.known(code)
        try:
            table = await self._table_cache.refresh(code, version)
        except CommandRejected as refusal:
            await self._check_lost(held, refusal)
            raise
        if table is not None:
            await self.catch_up(table)

    async def _check_lost(self, held: LiveTable | None, refusal: CommandRejected) -> None:
        is_open = held is not None and held.state.phase is not TablePhase.CLOSED
        if refusal.code == "no_such_table" and held is not None and is_open:
            self._races.forget(held.state.race_id)
            self._lose_seats(held, refusal.detail)

    async def look_over(self) -> None:
        """Resolve uncertain writes, and carry out effects that are still pending on this node."""
        await run_each_logged(
            self.refresh(table.code) if table.in_doubt else self.catch_up(table)
            for table in self._table_cache.all()
            if table.in_doubt or table.followed_up is not None
        )

    async def catch_up(self, table: LiveTable) -> None:
        """Carry out the effects of changes that other nodes made, or whose reply was lost."""
        while table.followed_up is not None:
            known, table.followed_up = table.followed_up, None
            if known.version > table.version and table.state.phase is not TablePhase.RUNNING:
                # the store has lost changes, and with them the race
                self._races.forget(known.state.race_id)
            if not await self._followed_up(table, known, self._follow(table, known.state)):
                return

    async def _followed_up(
        self, table: LiveTable, known: Known, follow_up: Awaitable[None]
    ) -> bool:
        """Run a follow-up; return whether it succeeded. If not, `look_over` repeats it.

        The change is durable already, so an error here is not an answer to a command.
        """
        is_done = False
        try:
            is_done = await run_logged(follow_up)
        finally:
            if not is_done:
                table.falls_behind(known)
        return is_done
