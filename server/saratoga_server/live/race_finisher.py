"""Finish races: compute the results on one node, and announce them on all nodes.

The node that ends the last board computes the results. The others read them with the table. A node that
learns of the last ending but receives no results computes them too; the store accepts only one.
"""

import asyncio
from typing import NamedTuple

from saratoga_protocol.events import Outcome, RaceOver
from saratoga_rules.records.record import RecordError
from saratoga_rules.records.standing import State
from saratoga_server.domain import results
from saratoga_server.domain.tables import TablePhase
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_race import LiveRace
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.races import RaceCache
from saratoga_server.live.stored_logs import StoredLogs
from saratoga_server.logs import EventLog
from saratoga_server.ports import Millis, RaceFinish
from saratoga_server.store.tables import TableStore

log = EventLog("races")


class Finish(NamedTuple):
    """The results of a race, not stored yet."""

    outcome: Outcome
    write: RaceFinish
    away: frozenset[str]
    """The racers whose boards ended as idle, and who gave no sign of activity since."""


class RaceFinisher:
    """The part that computes the results of races and announces them."""

    def __init__(
        self, tables: TableStore, races: RaceCache, logs: StoredLogs, broadcaster: Broadcaster
    ) -> None:
        self._tables = tables
        self._races = races
        self._logs = logs
        self._broadcaster = broadcaster

    async def count(self, table: LiveTable) -> Finish | None:
        """Compute the results of the table's race, and send the final standings to the table.

        Return `None` if the race is not running, or if a board still races.
        """
        state = table.state
        if state.phase is not TablePhase.RUNNING:
            return None
        race = await self._races.of(table)
        boards = await self._races.final_boards(race)
        if boards is None:
            return None
        # sixteen long boards take too long for one turn of the event loop
        counted = await asyncio.to_thread(results.count_up, state, race.opening, boards)
        write = RaceFinish(race=state.race, record=counted.record, settlement=counted.settlement)
        self._broadcaster.send_to_table(table.code, race.standings())
        return Finish(counted.outcome, write, await self._away(race))

    async def _away(self, race: LiveRace) -> frozenset[str]:
        away = set()
        for player, run in race.runs.items():
            if run.standing.state is State.IDLE:
                # another node may have stored a sign of activity since
                board = await self._races.latest(race, player)
                if run.active_at <= board.log[-1].at:
                    away.add(player)
        return frozenset(away)

    async def others_ended(self, race: LiveRace, player: str) -> Millis | None:
        """Return when the last of the other boards ended; `None` if one still races."""
        last = Millis(0)
        for other in race.runs.keys() - {player}:
            _, board = await self._races.board(race, other)
            if board.racing:
                board = await self._races.latest(race, other)
            if board.racing:
                return None
            last = max(last, board.log[-1].at)
        return last

    async def announce_counted(self, table: LiveTable, outcome: Outcome) -> None:
        """Announce results from another node, after the endings that this node has missed."""
        race = self._races.known(outcome.race)
        if race is not None:
            await self._show_endings(race)
        heads = {result.player: result.head for result in outcome.results}
        self._broadcaster.send_to_table(
            table.code, results.wire_standings(outcome.race, outcome.results, heads)
        )
        self.announce(table, outcome)

    async def _show_endings(self, race: LiveRace) -> None:
        """Send players here the endings of their boards that this node has missed."""
        for run in list(race.runs.values()):
            races = run.board is not None and run.board.racing
            if races and self._broadcaster.is_following(run.player, race.code):
                await self._races.latest(race, run.player)

    async def announce_missed(self, table: LiveTable, race: int) -> None:
        """Announce an earlier race whose end this node has missed."""
        record = await self._tables.load_record(table.code, race)
        if record is None:  # the call ended without a race
            return
        try:
            outcome = await asyncio.to_thread(results.recorded_outcome, record)
        except RecordError as fault:
            log.error("record_unreadable", table=table.code, race=race, reason=str(fault))
            return
        if outcome is None:  # voided, as the table says
            self._races.forget(f"{table.code}/{race}")
        else:
            await self.announce_counted(table, outcome)

    def announce(self, table: LiveTable, outcome: Outcome) -> None:
        """Announce the end of a race, once."""
        if table.announced == outcome.race:
            return
        table.announced = outcome.race
        self._broadcaster.standings_settled(table.code)
        self._broadcaster.send_to_table(table.code, RaceOver(outcome=outcome))
        log.info("race_over", table=table.code, race=outcome.race, ranked=outcome.ranked)
