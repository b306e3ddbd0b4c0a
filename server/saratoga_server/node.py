"""A node: the parts of one server process that serve players, and how it stops."""

from dataclasses import dataclass

from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import Leaderboard
from saratoga_server.background_tasks import BackgroundTasks, run_each_logged, run_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, TableState
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.handlers.records import RecordHandlers
from saratoga_server.handlers.replays import Replay, Replays
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.live.board_service import BoardService
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.peer_events import PeerEvents
from saratoga_server.live.peers import Peers
from saratoga_server.live.races import RaceCache
from saratoga_server.live.readiness import Readiness
from saratoga_server.live.scheduler import Scheduler
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis
from saratoga_server.store.nodes import NodeStore


@dataclass(slots=True, kw_only=True)
class Node:
    """One server process: its parts, and the queries of the HTTP pages."""

    name: str
    """The node's name, different from that of every earlier process."""
    clock: ServerClock
    broadcaster: Broadcaster
    table_cache: TableCache
    table_service: TableService
    races: RaceCache
    boards: BoardService
    searches: StuckSearches
    leaderboards: Leaderboards
    records: RecordHandlers
    replays: Replays
    admin_events: AdminEvents
    peers: Peers
    peer_events: PeerEvents
    scheduler: Scheduler
    readiness: Readiness
    dispatcher: Dispatcher
    background_tasks: BackgroundTasks
    nodes: NodeStore
    metrics: Metrics

    async def why_not_ready(self) -> str | None:
        """Return a sentence that says why the node is not ready; `None` if it is ready."""
        return await self.readiness.why_not_ready()

    async def leaderboard(self, query: GetLeaderboard) -> Leaderboard:
        """Return a page of a leaderboard. Raises `CommandRejected`."""
        return await self.leaderboards.page(query)

    async def record(self, race: str) -> str:
        """Return the record of a finished race. Raises `CommandRejected`."""
        return await self.records.record(race)

    async def replay(self, race: str) -> Replay:
        """Return the boards of a finished race. Raises as `Replays.boards` does."""
        return await self.replays.boards(race)

    async def has_table(self, code: str) -> bool:
        """Return whether there is an open table with this code."""
        return await self.records.has_table(code)

    async def has_race(self, race: str) -> bool:
        """Return whether a race with this id has been gathered."""
        return await self.records.has_race(race)

    async def read_again(self) -> None:
        """Read all tables and boards again after the store lost writes; tell the players."""
        await run_each_logged(
            self.table_service.refresh(table.code) for table in self.table_cache.all()
        )
        await run_each_logged(
            self.races.latest(race, player)
            for race in self.races.all()
            for player, run in race.runs.items()
            if run.board is not None
        )

    async def stop(self) -> None:
        """Finish work in progress, and release what other nodes wait for."""
        self.searches.stop()
        self.replays.stop()
        await self.background_tasks.finish()
        await run_each_logged(self._disconnect_seats(table) for table in self.table_cache.all())
        # without a store this fails, and the other nodes find out by themselves
        await run_logged(self.nodes.gone(self.name))

    async def _disconnect_seats(self, table: LiveTable) -> None:
        """Disconnect the seats of players who have not reconnected to another node yet."""
        for seat in table.state.seats:
            if seat.node == self.name:

                def gone(
                    state: TableState, now: Millis, seat: tables.TableSeat = seat
                ) -> Change | None:
                    return tables.disconnect(state, seat.player, seat.epoch, now=now)

                await self.table_service.change(table.code, gone)
