"""Handle lost seats: notify this node's connections, and update the players' rows.

A player's row names the table where the player has a seat; the seat itself is in the table. Row
changes that the store could not make are noted here and made later.
"""

from saratoga_protocol.events import SeatLost
from saratoga_server.background_tasks import run_each_logged
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableSeat, TableState
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.table_cache import TableCache
from saratoga_server.store.players import PlayerStore


class Seats:
    """The part that handles lost seats on this node."""

    def __init__(
        self,
        players: PlayerStore,
        table_cache: TableCache,
        public_tables: PublicTables,
        broadcaster: Broadcaster,
    ) -> None:
        self._players = players
        self._table_cache = table_cache
        self._public_tables = public_tables
        self._broadcaster = broadcaster
        self._not_freed: set[tuple[str, str]] = set()
        """The players whose rows are still to be changed, with their tables."""

    async def lost(self, table: LiveTable, player: str, reason: str | None = None) -> None:
        """Handle the loss of a player's seat; `reason` is sent to the player, if given."""
        code = table.code
        if table.state.seat(player) is not None:
            return  # the player has joined again meanwhile
        for session in self._broadcaster.audience(code):
            if session.player == player and session.seat == code:
                session.seat = None
                if code not in session.watching:
                    self._broadcaster.unfollow(session, code)
                if reason is not None:
                    session.lost_seat = reason
                    session.send(SeatLost(table=code, reason=reason))
        await self.free(player, code)

    async def closed(self, table: LiveTable, reason: str) -> None:
        """Handle the loss of every seat and watcher of a closed table."""
        seated = []
        # all at once: nobody is told twice, and no command finds a seat that is lost
        for session in self._broadcaster.audience(table.code):
            session.send(SeatLost(table=table.code, reason=reason))
            session.watching -= {table.code}
            if session.seat == table.code:
                session.seat, session.lost_seat = None, reason
                seated.append(session.player)
            self._broadcaster.unfollow(session, table.code)
        await run_each_logged(self.free(player, table.code) for player in seated)
        await self._public_tables.closed(table.code)

    async def free(self, player: str, code: str) -> None:
        """Remove the table from the player's row. If the store fails, `catch_up` tries again."""
        try:
            while True:
                row = await self._players.load_player(player)
                if row is None or row.table != code or await self.seat(player, code):
                    break
                # a row written meanwhile may belong to a seat taken meanwhile
                if await self._players.stand_up(player, code, row.table_writes):
                    break
        except BaseException:
            self._not_freed.add((player, code))
            raise
        self._not_freed.discard((player, code))

    async def catch_up(self) -> None:
        """Change the rows that could not be changed before."""
        await run_each_logged(self._free_late(*each) for each in sorted(self._not_freed))

    async def _free_late(self, player: str, code: str) -> None:
        state = await self.state(code)  # the player may have joined there again
        if state is not None and state.seat(player) is not None:
            self._not_freed.discard((player, code))
            return
        await self.free(player, code)

    async def state(self, code: str) -> TableState | None:
        """Read the table from the store and return it; `None` if it is missing or unreadable."""
        try:
            table = await self._table_cache.refresh(code) or await self._table_cache.get(code)
            return table.state
        except CommandRejected:
            return None

    async def seat(self, player: str, code: str) -> TableSeat | None:
        """Read the table from the store; return the player's seat, if any."""
        state = await self.state(code)
        if state is None or state.phase is TablePhase.CLOSED:
            return None
        return state.seat(player)
