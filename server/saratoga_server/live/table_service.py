"""The table service: executes the effects of transitions that are written."""

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Final

from saratoga_rules.records.record import CLOSED
from saratoga_rules.records.standing import State
from saratoga_rules.stuck.stuck import StuckSearch
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.clock import ServerClock
from saratoga_server.domain import board as boards
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, TablePhase, TableState
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.live.board_service import BoardService
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.race_finisher import RaceFinisher
from saratoga_server.live.races import RaceCache
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.table_cache import Applied, TableCache
from saratoga_server.live.table_changes import TableChanges
from saratoga_server.logs import EventLog
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis

COUNTED_WITHIN: Final = 0.25
"""Seconds after which the node that ended a race's last board has usually stored the results."""

log = EventLog("tables")


class TableService(TableChanges):
    """The service that changes tables and carries out the effects, until the race is over."""

    def __init__(
        self,
        table_cache: TableCache,
        races: RaceCache,
        boards: BoardService,
        finisher: RaceFinisher,
        searches: StuckSearches,
        seats: Seats,
        public_tables: PublicTables,
        leaderboards: Leaderboards,
        broadcaster: Broadcaster,
        clock: ServerClock,
        background_tasks: BackgroundTasks,
        metrics: Metrics,
        node: str,
        new_seed: NewSeed,
        ranked_tables: tables.RankedTables,
    ) -> None:
        super().__init__(table_cache, races)
        self._boards = boards
        self._finisher = finisher
        self._searches = searches
        self._seats = seats
        self._public_tables = public_tables
        self._leaderboards = leaderboards
        self._broadcaster = broadcaster
        self._clock = clock
        self._background_tasks = background_tasks
        self._metrics = metrics
        self._node = node
        self._new_seed = new_seed
        self._ranked_tables = ranked_tables

    # Timers

    async def elapse(self, code: str, dead_nodes: Collection[str]) -> LiveTable:
        """Apply the timers of a table that have run out, and return the table."""

        def elapsed(state: TableState, now: Millis) -> Change | None:
            given = self._new_seed(), dead_nodes, self._clock.since, self._ranked_tables
            return tables.elapse(state, now, *given)

        return await self.change(code, elapsed)

    # Effects

    def _lose_seats(self, held: LiveTable, reason: str) -> None:
        self._seats.closed(held, reason)

    async def _carry_out(self, applied: Applied, change: Change) -> None:
        table = applied.table
        for effect in change.effects:
            match effect:
                case tables.RaceStarted():
                    self._metrics.races_begun += 1
                    log.info("race_started", table=table.code, race=table.state.race_id)
                    self._boards.deal(table, self._races.open(table))
                case tables.RacerLeft(player, ending):
                    await self.end_board(await self._races.of(table), player, ending)
                case tables.RaceEndedByHost(player):
                    log.info("race_ended_by_host", table=table.code, race=table.state.race_id)
                    await self.end_board(await self._races.of(table), player, State.ENDED_BY_HOST)
                case tables.SeatVacated(player, reason):
                    log.info("seat_lost", table=table.code, player=player, reason=reason)
                    self._seats.lost(table, player, reason)
                case tables.BoardsDue():
                    await self._look_over_boards(table)
                case tables.TableClosed(reason):
                    log.info("table_closed", table=table.code, reason=reason)
                    self._seats.closed(table, reason)
                case tables.RaceVoided(ended):
                    self._count_void(table.code, ended.race, ended.reason)
        self._count_phases(table, applied.before.state)

    def _count_void(self, code: str, race: str, reason: str) -> None:
        self._metrics.races_voided[reason] += 1
        what = "race_voided" if reason == CLOSED else "countdown_voided"
        log.info(what, table=code, race=race, reason=reason)
        self._races.forget(race)

    async def _follow(self, table: LiveTable, known: TableState) -> None:
        await self._void_lost(table, known)
        state = table.state
        for session in self._broadcaster.audience(table.code):
            if session.seat == table.code and state.seat(session.player) is None:
                reason = KICKED if session.player in state.kicked else state.notice
                self._seats.lost(table, session.player, reason)
        if state.phase is TablePhase.CLOSED:
            self._seats.closed(table, state.notice)
        await self._follow_race(table, known)
        self._count_phases(table, known)

    async def _void_lost(self, table: LiveTable, known: TableState) -> None:
        """Void the race of `known` if the store has lost it."""
        if tables.has_lost(table.state, known):
            await self.change(
                table.code, lambda state, now: tables.lost(state, known, self._new_seed())
            )

    async def _follow_race(self, table: LiveTable, known: TableState) -> None:
        """Carry out the effects on the race of `known` and on the table's present race."""
        state = table.state
        is_same_race = known.race == state.race
        if known.phase in tables.RACING_PHASES and not is_same_race:
            await self._finisher.announce_missed(table, known.race)
        if state.phase is TablePhase.RUNNING:
            race = await self._races.of(table)
            if known.phase is not TablePhase.RUNNING or not is_same_race:
                self._boards.deal(table, race)
            for player, ending in state.left.items():
                await self.end_board(race, player, ending)
            if state.is_ended_by_host:
                await self.end_board(race, state.last_racer, State.ENDED_BY_HOST)
        elif state.outcome is not None and (known.outcome is None or not is_same_race):
            await self._finisher.announce_counted(table, state.outcome)

    def _count_phases(self, table: LiveTable, before: TableState) -> None:
        if table.state.phase is TablePhase.CLOSED or not table.state.settings.public:
            self._public_tables.free_place(table.code)
        if table.state.phase is not before.phase:
            self._metrics.tables = self._table_cache.phases()

    # Boards and races that end

    async def end_board(
        self, race: LiveRace, player: str, state: State, length: int | None = None
    ) -> None:
        """End a board with `state`, and finish the race if it was the last board."""
        await self._boards.end(race, player, state, length)
        self.finish_if_over(race)

    def end_out_of_time(self, race: LiveRace) -> None:
        """End all boards in the background: the store, whose clock counts, has refused a late move.

        This node's clock may be behind: after a failover, the new primary may have another time.
        """

        async def end() -> None:
            for player, run in list(race.runs.items()):
                if not run.standing.state.has_ended:
                    await self._boards.end(race, player, State.OUT_OF_TIME)
            self.finish_if_over(race)

        self._background_tasks.spawn(end())

    def search_stuck(self, race: LiveRace, run: BoardRun, search: StuckSearch) -> None:
        """Continue a search in the background; end the board if it is proved stuck."""
        board = run.board
        assert board is not None
        length = board.length
        self._searches.search(
            (race.id, run.player, length),
            search,
            is_wanted=lambda: (
                run.board is not None and run.board.racing and run.board.length == length
            ),
            end_board=partial(self.end_board, race, run.player, State.STUCK, length),
        )

    def finish_if_over(self, race: LiveRace) -> None:
        """Finish the race in the background if all boards have ended; name a last racer."""
        if race.is_over:
            self._background_tasks.spawn(self.finish(race.code))
        elif race.last_racer:
            self._background_tasks.spawn(self._name_last_racer(race))

    async def _name_last_racer(self, race: LiveRace) -> None:
        """Write to the table whose board is the last one racing, and since when."""
        table, player = await self._table_cache.get(race.code), race.last_racer
        if not player or table.state.race_id != race.id or table.state.last_racer:
            return
        since = await self._finisher.others_ended(race, player)

        def named(state: TableState, now: Millis) -> Change | None:
            if since is None or state.race_id != race.id:
                return None
            return tables.last_board(state, player, since)

        await self.change(race.code, named)

    async def ended_elsewhere(self, race: LiveRace, players: Collection[str]) -> None:
        """Handle boards that ended on another node: notify their players, finish the race."""
        for player in players:
            run = race.runs[player]
            if run.board is not None and self._broadcaster.is_following(player, run.audience):
                await self._races.latest(race, player)
        if players and race.is_over:
            # the node that ended the last board finishes the race, unless one still races there
            await asyncio.sleep(COUNTED_WITHIN)
            table = self._table_cache.known(race.code)
            if table is not None and table.state.race_id == race.id:
                await self.finish(race.code)

    async def finish(self, code: str) -> None:
        """Write and announce the results of the table's race, if all of its boards have ended."""
        table = await self._table_cache.get(code)
        finish = await self._finisher.count(table)
        if finish is None:
            return
        is_first = False

        def over(state: TableState, now: Millis) -> Change | None:
            nonlocal is_first
            is_first = state.phase is TablePhase.RUNNING and state.race == finish.write.race
            if not is_first:
                return None
            return tables.finish(state, finish.outcome, now=now, away=finish.away)

        await self.change(code, over, finish.write)
        if is_first:
            self._metrics.races_over += 1
            self._finisher.announce(table, finish.outcome)
            if finish.write.settlement is not None:
                self._leaderboards.counted(finish.write.settlement.game)

    async def check_race(self, table: LiveTable) -> None:
        """Finish the table's race if all boards have ended, according to the store's standings.

        If one is left, name its player.
        """
        race = await self._races.of(table)
        if not race.is_over:
            # the last board may have ended on a node that died before it could publish
            ended = await self._races.read_standings(race)
            self._background_tasks.spawn(self.ended_elsewhere(race, ended))
        if race.is_over:
            await self.finish(table.code)
        else:
            await self._name_last_racer(race)

    async def _look_over_boards(self, table: LiveTable) -> None:
        """End the boards of racers who are out of time, idle or gone."""
        race = await self._races.of(table)
        for player, ending in table.state.left.items():
            await self._boards.end(race, player, ending)
        if table.state.is_ended_by_host:
            await self._boards.end(race, table.state.last_racer, State.ENDED_BY_HOST)
        idle_players = await self._boards.sweep(race, table.state.served_since)
        self._search_stuck_boards(table, race)
        for player in idle_players:
            if table.state.has_others(player) and await self._boards.end(race, player, State.IDLE):
                log.info("board_idle", table=table.code, race=race.id, player=player)
        if race.is_over:
            await self.finish(table.code)

    def _search_stuck_boards(self, table: LiveTable, race: LiveRace) -> None:
        """Search boards of this node's racers that may be stuck; other nodes search theirs."""
        elsewhere = {s.player for s in table.state.seats if s.node not in ("", self._node)}
        for player, run in race.runs.items():
            if run.board is None or player in elsewhere:
                continue
            search = boards.stuck_search(race.game, run.board)
            if search is not None:
                self.search_stuck(race, run, search)
