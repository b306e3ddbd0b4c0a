"""Handlers of watching: connections that follow a table without a seat."""

from collections.abc import Iterable
from typing import Final

from saratoga_protocol.commands import UnwatchTable, WatchTable
from saratoga_protocol.events import Done, Snapshot
from saratoga_server.domain.tables import CommandRejected, TablePhase
from saratoga_server.handlers.snapshots import Snapshots
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.rate_limits.rates import MAX_WATCHERS

MOST_WATCHED: Final = 16
"""The most tables that one connection may watch."""


class WatchHandlers:
    """The handlers of `watch_table` and `unwatch_table`."""

    def __init__(
        self, table_cache: TableCache, broadcaster: Broadcaster, snapshots: Snapshots
    ) -> None:
        self._table_cache = table_cache
        self._broadcaster = broadcaster
        self._snapshots = snapshots

    async def watch(self, session: Session, command: WatchTable) -> Snapshot:
        """Follow a table without a seat; return its snapshot. Raises `CommandRejected`."""
        if len(session.watching) >= MOST_WATCHED and command.table not in session.watching:
            raise CommandRejected(
                "watch_limit", f"You watch {MOST_WATCHED} tables already. Stop watching one first."
            )
        table = await self._table_cache.get(command.table)
        if table.state.phase is TablePhase.CLOSED:
            raise CommandRejected("table_closed")
        check_room_to_watch(session, table.code, self._broadcaster.audience(table.code))
        session.watching |= {table.code}
        self._broadcaster.follow(session, table.code)
        return await self._snapshots.snapshot(session, command.id, table)

    async def unwatch(self, session: Session, command: UnwatchTable) -> Done:
        """Stop following a table, and return the answer."""
        session.watching -= {command.table}
        if session.seat != command.table:
            self._broadcaster.unfollow(session, command.table)
        return Done(re=command.id)


def check_room_to_watch(session: Session, code: str, audience: Iterable[Session]) -> None:
    """Raise `CommandRejected` if the table has too many watchers, in all or from this address."""
    if code in session.watching:
        return
    watchers = [each.quota for each in audience if code in each.watching]
    if len(watchers) >= MAX_WATCHERS:
        raise CommandRejected(
            "table_full",
            "That table has the greatest possible number of watchers. Try again later.",
        )
    if not session.quota.may_watch_beside(watchers):
        raise CommandRejected(
            "table_full", "That table has too many watchers from your address. Try again later."
        )
