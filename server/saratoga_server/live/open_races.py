"""Open races on this node: days are published ahead, runs end, and due races are closed."""

import asyncio
import secrets
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from saratoga_protocol.events import OpenRace
from saratoga_rules.dealing.fairness import SEED_BYTES
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position
from saratoga_rules.records.record import digest_of
from saratoga_rules.records.standing import State
from saratoga_server.domain import open_races
from saratoga_server.domain.board import Board
from saratoga_server.domain.open_races import DAY, OpenState, date_of, day_id, day_of, days_from
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.logs import EventLog
from saratoga_server.ports import Millis, RaceFinish, Run
from saratoga_server.store.keys import open_key

if TYPE_CHECKING:
    from saratoga_server.node import Node

log = EventLog("open races")

AGAIN_MILLIS = 5_000
"""Milliseconds until a race is looked at again of which a run has not ended."""


class OpenRaces:
    """The open races, as this node uses them."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._store = node.store.open_races
        self._published: date | None = None
        """The day on which this node last looked at the days to come."""

    async def get(self, race_id: str) -> OpenState:
        """Return an open race. Raises `CommandRejected`."""
        race = await self._store.load(race_id)
        if race is None:
            raise CommandRejected("no_such_open")
        return race

    async def shown(self, race: OpenState, player: str) -> OpenRace:
        """Return what a player may see of an open race."""
        now, streak = self._node.clock.now(), 0
        if race.kind == DAY:
            last = await self._store.streak(player, race.game)
            if last:
                streak = open_races.streak_at(last, day_of(race.id), await self._store.days_on())
        runs, digest = await self._store.runs(race.id), await self._store.digest(race.id)
        return open_races.shown(race, runs, player, digest=digest, streak=streak, now=now)

    async def record(self, race_id: str) -> str:
        """Return the record of an open race. Raises `CommandRejected` before it is closed."""
        await self.get(race_id)
        text = await self._store.record(race_id)
        if not text:
            raise CommandRejected(
                "race_running",
                "That race is still open. Its record opens when its last run has ended.",
            )
        return text

    # The days to come

    async def publish_days(self) -> None:
        """Commit to the deals of today and the days ahead, unless that is done."""
        now = self._node.clock.now()
        today = date_of(now)
        if today == self._published:
            return
        wanted = [(game, day) for day in days_from(today) for game in GAMES]
        there = await self._store.load_all(day_id(*each) for each in wanted)
        missing = [each for each, race in zip(wanted, there, strict=True) if race is None]
        fresh = [
            open_races.day_race(*each, secrets.token_bytes(SEED_BYTES), now) for each in missing
        ]
        if await self._store.publish(fresh, str(today)):
            self._published = today

    async def days(self, game: str, since: date) -> list[OpenState]:
        """Return the days of a game from one on whose deals are committed to."""
        found = await self._store.load_all(day_id(game, day) for day in days_from(since))
        return [race for race in found if race is not None]

    # Runs and races that end

    async def finished(
        self, table: TableState, opening: Position, boards: Mapping[str, Board], log_text: str
    ) -> RaceFinish:
        """Return what to write when a run has ended; `log_text` is its log."""
        run, (player, board) = table.open, *boards.items()
        assert run is not None
        streak = ""
        if run.kind == DAY and not table.racers[player].bot:
            last = await self._store.streak(player, table.settings.game)
            day = day_of(run.id)
            if not last.startswith(f"{day} "):
                streak = open_races.next_streak(last, day, await self._store.days_on())
        ended = open_races.ended_run(table, board, opening.banked)
        return RaceFinish(race=table.race, record=log_text, run=ended, streak=streak)

    async def close_due(self, key: str) -> None:
        """Close an open race whose time is over, if its last run has ended."""
        race_id = key.removeprefix(open_key(""))
        race = await self._store.load(race_id)
        if race is None:
            await self._node.store.tables.forget_timer(key)
            return
        runs, lost = [], []
        for run in await self._store.runs(race_id):
            if run.state != State.RACING:
                runs.append(run)
            elif await self._still_runs(run, race_id):
                await self._store.wait(race_id, Millis(self._node.clock.now() + AGAIN_MILLIS))
                return
            else:
                lost.append(run.player)
        if lost:  # a run may have ended since the runs were read
            now = {run.player: run for run in await self._store.runs(race_id)}
            runs += [now[player] for player in lost if now[player].state != State.RACING]
            lost = [player for player in lost if now[player].state == State.RACING]
            if lost:
                log.error("runs_lost", race=race_id, players=len(lost))
        logs = await self._store.logs(race_id)
        text = await asyncio.to_thread(open_races.closing_record, race, runs, logs)
        await self._store.close(race_id, text, digest_of(text), lost)
        log.info("open_race_closed", race=race_id, runs=len(runs))

    async def _still_runs(self, run: Run, race_id: str) -> bool:
        """Return whether a run is still played; end it if its time is over."""
        await self._node.scheduler.elapse(run.table)
        try:
            state = (await self._node.tables.get(run.table)).state
        except CommandRejected:
            return False
        is_on = state.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING)
        return is_on and state.open is not None and state.open.id == race_id
