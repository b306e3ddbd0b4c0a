"""Races that come to their end: counted up by whichever node is first, announced on all of them.

Whoever ends the last board counts up. Others hear of it with the table; whoever heard of the last
end and of nothing more counts up too, and one of them gets through.
"""

import asyncio
from typing import Final

from saratoga_protocol.events import Outcome, RaceOver
from saratoga_server import table as rules
from saratoga_server.floor.floor import Floor
from saratoga_server.floor.hub import Hub
from saratoga_server.floor.room import Room
from saratoga_server.gauges.metrics import Metrics
from saratoga_server.logs import EventLog
from saratoga_server.parcels.settlements import pack_settlement
from saratoga_server.ports import Millis, RaceFinish
from saratoga_server.racing import cashier
from saratoga_server.racing.archive import Archive
from saratoga_server.racing.dealer import Dealer
from saratoga_server.racing.races import Race, Races
from saratoga_server.table import Change, Phase, Refusal, TableState

COUNTED_WITHIN: Final = 0.25
"""Seconds in which the node that ended a race's last board has usually counted it up."""

log = EventLog("house")


class Reckoner:
    """Counts up, and announces."""

    def __init__(
        self,
        floor: Floor,
        races: Races,
        dealer: Dealer,
        archive: Archive,
        hub: Hub,
        metrics: Metrics,
    ) -> None:
        self._floor = floor
        self._races = races
        self._dealer = dealer
        self._archive = archive
        self._hub = hub
        self._metrics = metrics

    async def count_up(self, code: str) -> None:
        """The last board has ended: make the record, announce the result, settle."""
        room = await self._floor.room(code)
        state = room.state
        if state.phase is not Phase.RUNNING:
            return
        race = await self._races.of(room)
        boards = await self._races.final_boards(race)
        if boards is None:
            return
        # sixteen long boards take longer than the event loop should wait
        account = await asyncio.to_thread(cashier.account, state, race.opening, boards)

        counted = False

        def over(table: TableState, now: Millis) -> Change | None:
            nonlocal counted
            counted = table.phase is Phase.RUNNING and table.race == state.race
            return rules.finish(table, account.outcome, now=now) if counted else None

        settlement = account.settlement
        finish = RaceFinish(
            race=state.race,
            record=account.record,
            settlement=None if settlement is None else pack_settlement(settlement),
        )
        self._hub.tell_table(code, race.standings())
        await self._floor.change(code, over, finish)
        if counted:
            self._metrics.races_over += 1
            self._announce(room, account.outcome)
            await self._archive.settle()

    async def count_up_late(self, race: Race) -> None:
        """Another node has ended the last board; it counts up, unless it thinks that one races still."""
        await asyncio.sleep(COUNTED_WITHIN)
        room = self._floor.known(race.code)
        if room is not None and room.state.race_id == race.id:
            await self.count_up(race.code)

    async def announce_counted(self, room: Room, outcome: Outcome) -> None:
        """Another node has counted the race up: first what the players here have missed."""
        race = self._races.known(outcome.race)
        if race is not None:
            for player in [player for player, board in race.boards.items() if board.racing]:
                if self._hub.is_following(player, room.code):
                    await self._dealer.board_as_stored(race, player)
        self._hub.tell_table(room.code, cashier.final_standings(outcome))
        self._announce(room, outcome)

    async def announce_missed(self, room: Room, race: str) -> None:
        """The race was over, and the next one gathered, before this node heard of either."""
        try:
            record = await self._archive.record(race)
        except Refusal:
            return  # it came to nothing
        await self.announce_counted(room, await asyncio.to_thread(cashier.outcome_of, record))

    def _announce(self, room: Room, outcome: Outcome) -> None:
        """Tell of the end of a race, once, whoever counted it up."""
        if room.announced == outcome.race:
            return
        room.announced = outcome.race
        self._hub.standings_settled(room.code)
        self._hub.tell_table(room.code, RaceOver(outcome=outcome))
        log.info("race_over", table=room.code, race=outcome.race, ranked=outcome.ranked)
