"""Races that come to their end: counted up by whichever node is first, announced on all of them.

Whoever ends the last board counts up. Others hear of it with the table; whoever heard of the last
end and of nothing more counts up too, and one of them gets through.
"""

import asyncio
from typing import Final

from saratoga_protocol.events import Outcome, RaceOver
from saratoga_server.domain import results, tables
from saratoga_server.domain.tables import Change, Phase, Refusal, TableState
from saratoga_server.handlers.leaderboards import LeaderboardHandlers
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.move_service import MoveService
from saratoga_server.live.races import LiveRace, RaceCache
from saratoga_server.live.table_cache import TableCache
from saratoga_server.logs import EventLog
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis, RaceFinish

COUNTED_WITHIN: Final = 0.25
"""Seconds in which the node that ended a race's last board has usually counted it up."""

log = EventLog("house")


class RaceFinisher:
    """Counts up, and announces."""

    def __init__(
        self,
        table_cache: TableCache,
        races: RaceCache,
        moves: MoveService,
        leaderboards: LeaderboardHandlers,
        broadcaster: Broadcaster,
        metrics: Metrics,
    ) -> None:
        self._table_cache = table_cache
        self._races = races
        self._moves = moves
        self._archive = leaderboards
        self._broadcaster = broadcaster
        self._metrics = metrics

    async def count_up(self, code: str) -> None:
        """The last board has ended: make the record, announce the result, settle."""
        live_table = await self._table_cache.live_table(code)
        state = live_table.state
        if state.phase is not Phase.RUNNING:
            return
        race = await self._races.of(live_table)
        boards = await self._races.final_boards(race)
        if boards is None:
            return
        # sixteen long boards take longer than the event loop should wait
        account = await asyncio.to_thread(results.count_up, state, race.opening, boards)

        counted = False

        def over(table: TableState, now: Millis) -> Change | None:
            nonlocal counted
            counted = table.phase is Phase.RUNNING and table.race == state.race
            return tables.finish(table, account.outcome, now=now) if counted else None

        settlement = account.settlement
        finish = RaceFinish(
            race=state.race,
            record=account.record,
            settlement=None if settlement is None else pack_settlement(settlement),
        )
        self._broadcaster.tell_table(code, race.standings())
        await self._table_cache.change(code, over, finish)
        if counted:
            self._metrics.races_over += 1
            self._announce(live_table, account.outcome)
            await self._archive.settle()

    async def count_up_late(self, race: LiveRace) -> None:
        """Another node has ended the last board; it counts up, unless it thinks that one races still."""
        await asyncio.sleep(COUNTED_WITHIN)
        live_table = self._table_cache.known(race.code)
        if live_table is not None and live_table.state.race_id == race.id:
            await self.count_up(race.code)

    async def announce_counted(self, live_table: LiveTable, outcome: Outcome) -> None:
        """Another node has counted the race up: first what the players here have missed."""
        race = self._races.known(outcome.race)
        if race is not None:
            for player in [player for player, board in race.boards.items() if board.racing]:
                if self._broadcaster.is_following(player, live_table.code):
                    await self._moves.board_as_stored(race, player)
        self._broadcaster.tell_table(live_table.code, results.final_standings(outcome))
        self._announce(live_table, outcome)

    async def announce_missed(self, live_table: LiveTable, race: str) -> None:
        """The race was over, and the next one gathered, before this node heard of either."""
        try:
            record = await self._archive.record(race)
        except Refusal:
            return  # it came to nothing
        await self.announce_counted(live_table, await asyncio.to_thread(results.outcome_of, record))

    def _announce(self, live_table: LiveTable, outcome: Outcome) -> None:
        """Tell of the end of a race, once, whoever counted it up."""
        if live_table.announced == outcome.race:
            return
        live_table.announced = outcome.race
        self._broadcaster.standings_settled(live_table.code)
        self._broadcaster.tell_table(live_table.code, RaceOver(outcome=outcome))
        log.info("race_over", table=live_table.code, race=outcome.race, ranked=outcome.ranked)
