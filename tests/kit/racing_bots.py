"""Racing bots whose server or store is killed again and again during races.

`RacingBots` keeps all bots racing. `kill` kills the server, the store, or both, starts what does not
restart by itself, and waits until every player is back. The players reconnect by themselves.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from statistics import median

from kit.altered_server import QUICK
from kit.processes import wait_for_listener
from kit.race_audit import disagreements, faults_of_log
from kit.rankings import counted, settled
from kit.recorded_players import LINE_UP, Notes, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess, flags_for, running_server
from kit.stores import StoreServer
from saratoga_client.bots.player import Report
from saratoga_rules.records.record import parse_record
from saratoga_server.store.leaderboards import BoardKey
from saratoga_server.store.opening import Store, open_store

BACK_WITHIN = 60.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

AT_ONCE = 0.1
"""Seconds within which a process counts as restarted by itself, not by the test."""


class Victim(Enum):
    """Which processes are killed."""

    SERVER = "server"
    STORE = "store"
    BOTH = "both"


@dataclass
class RacingBots:
    """Bots that race at several tables of one server until they are stopped."""

    server_process: ServerProcess
    external: StoreServer | None
    """The store if it runs outside the server, `None` if it is embedded."""
    tables: list[list[RecordedPlayer]] = field(default_factory=list)
    racing: list["asyncio.Task[Report]"] = field(default_factory=list)
    """The bots' tasks."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    returns: list[float] = field(default_factory=list)
    """Seconds from the restart until a player was back, one value for each player."""
    restarts: list[float] = field(default_factory=list)
    """Seconds from a kill until all processes ran again."""
    killed_at_phase: list[str] = field(default_factory=list)
    """The phase of the first table at every kill, as its host last received it."""

    @property
    def players(self) -> list[RecordedPlayer]:
        return [player for table in self.tables for player in table]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(BACK_WITHIN):
            while not holds():
                self.changed.clear()
                await self.changed.wait()

    async def mid_race(self) -> None:
        """Wait until all players at the first table are racing and one of them has made a move."""
        table = self.tables[0]

        def racing() -> bool:
            return all(p.notes.is_connected and p.notes.is_racing for p in table) and any(
                p.notes.board is not None and p.notes.board.count for p in table
            )

        await self.until(racing)

    async def kill(self, victim: Victim) -> None:
        """Kill processes and start them again; wait until every player is back."""
        self.killed_at_phase.append(self.tables[0][0].notes.phase)
        killed = time.monotonic()
        if victim is not Victim.SERVER:
            await self._kill_store()
        if victim is not Victim.STORE:
            await self.server_process.kill()
        killed_at_phase = time.monotonic()
        if victim is not Victim.SERVER and self.external is not None:
            await asyncio.to_thread(self.external.start)
        if victim is not Victim.STORE:
            await self.server_process.start()
        ready = time.monotonic()
        self.restarts.append(ready - killed)
        await self.all_back(killed_at_phase, ready, by_connection=victim is not Victim.STORE)

    async def all_back(self, since: float, ready: float, *, by_connection: bool) -> None:
        """Wait until every player is back after `since`; note how long after `ready` each was back."""
        back = partial(_back_at, since=since, by_connection=by_connection)
        await self.until(lambda: all(back(p.notes) is not None for p in self.players))
        self.returns.extend(
            max(0.0, moment - ready) for p in self.players if (moment := back(p.notes))
        )

    async def lose_store(self) -> None:
        """Kill the store; restart it after every racer was refused because the store was missing."""
        assert self.external is not None
        racers = [player.notes for player in self.players if player.notes.is_racing]
        await asyncio.to_thread(self.external.kill)
        lost = time.monotonic()
        await self.until(lambda: all(notes.unavailable for notes in racers))
        await asyncio.to_thread(self.external.start)
        back = partial(_back_at, since=lost, by_connection=False)
        await self.until(lambda: all(back(notes) is not None for notes in racers))

    async def _kill_store(self) -> None:
        if self.external is not None:
            await asyncio.to_thread(self.external.kill)
            return
        # a late answer may have counted as the return of a player whose store was still being restarted
        store = await asyncio.to_thread(wait_for_listener, self.server_process.store_socket)
        os.kill(store, signal.SIGKILL)

    @property
    def store_url(self) -> str:
        """The address of the store."""
        if self.external is not None:
            return self.external.url
        return f"unix://{self.server_process.store_socket}"

    async def finish(self) -> None:
        """Wait until every table has finished its present race."""
        before = {id(table): len(_raced(table)) for table in self.tables}
        await self.until(
            lambda: all(len(_raced(table)) > before[id(table)] for table in self.tables)
        )

    async def stop_racing(self) -> list[object]:
        """Stop all bots, which stay connected; return the results of those that had stopped by themselves."""
        for task in self.racing:
            task.cancel()
        ended = await asyncio.gather(*self.racing, return_exceptions=True)
        self.racing.clear()
        return [end for end in ended if not isinstance(end, asyncio.CancelledError)]

    async def audit(self, store: Store) -> tuple[int, int]:
        """Stop the bots and audit every race; return the numbers of races and of acknowledged moves."""
        assert await self.stop_racing() == [], "a player has stopped"
        races = moves = 0
        assert await settled(store), "results are left in the outbox"
        for table in self.tables:
            records = await self._records(store, table)
            for text in records:
                races += 1
                moves += await _audit_race(store, table, text)
            await _audit_leaderboard(store, table, records)
        return races, moves

    async def _records(self, store: Store, table: list[RecordedPlayer]) -> list[str]:
        """Return the records of all finished races at a table, without those of voided countdowns."""
        code = table[0].notes.code
        texts: list[str] = []
        while (text := await store.tables.load_record(code, len(texts) + 1)) is not None:
            texts.append(text)
        assert len(texts) >= max(int(race.partition("/")[2]) for race in _raced(table))
        records = {text: parse_record(text) for text in texts}
        assert all(record.deal is None for record in records.values() if record.voided), texts
        return [text for text, record in records.items() if not record.voided]

    def figures(self) -> str:
        """Return a text with the times that processes took to restart and players to resume."""
        up = f"up again in median {median(self.restarts):.2f} s, at most {max(self.restarts):.2f} s"
        if max(self.restarts) < AT_ONCE:
            up = "restarted by the server"
        return (
            f"{len(self.restarts)} kills, {up}; players back after that in median "
            f"{median(self.returns):.2f} s, at most {max(self.returns):.2f} s"
        )


async def _audit_race(store: Store, table: list[RecordedPlayer], text: str) -> int:
    record = parse_record(text)
    all_notes = [player.notes for player in table]
    found = await asyncio.to_thread(disagreements, text, all_notes)
    assert found == [], record.race_id
    assert [player.objections(record.race_id) for player in table] == [()] * len(table)
    for notes in all_notes:
        stored = await store.boards.load_board(record.table, record.race, notes.player)
        racers = [racer for racer in record.racers if racer.player == notes.player]
        # a player without a connection at the end of the call is not in the race
        assert (stored is not None) == bool(racers), (record.race_id, notes.player)
        if stored is not None:
            assert list(faults_of_log(stored, racers[0], notes)) == [], record.race_id
    return sum(len(notes.of_race(record.race_id)) for notes in all_notes)


async def _audit_leaderboard(store: Store, table: list[RecordedPlayer], records: list[str]) -> None:
    """Check that every race counts once: a bankroll is the sum of a player's nets."""
    raced = [parse_record(text) for text in records]
    key = BoardKey(game=raced[0].game, ranking="bankroll", period="all", bots=True)
    for player in table:
        results = [
            row for race in raced for row in counted(race) if row.player == player.notes.player
        ]
        row = await store.leaderboards.row(key, player.notes.player)
        counts = (0, 0) if row is None else (row.races, row.value)
        expected = (len(results), sum(each.net for each in results))
        assert counts == expected, (player.name, raced[0].table)


def _raced(table: list[RecordedPlayer]) -> list[str]:
    """Return the ids of races that a player at the table knows to be over."""
    return sorted({race for player in table for race in player.notes.outcomes})


def _back_at(notes: Notes, since: float, by_connection: bool) -> float | None:
    """Return when a player was back (a move acknowledged or its seat resumed), `None` if not yet."""
    moments = [each.moment for each in notes.acknowledged[-3:] if each.moment > since]
    if by_connection:
        moments += [moment for moment in notes.connected[-3:] if moment > since]
    if moments:
        return min(moments)
    # A connected player without a board to play on has not been interrupted.
    is_waiting = not by_connection and notes.is_connected and not notes.is_racing
    return since if is_waiting else None


@asynccontextmanager
async def racing_bots(
    games: tuple[str, ...],
    pace: float,
    external: StoreServer | None = None,
    durability: str = "safe",
) -> AsyncIterator[RacingBots]:
    """Run a server on that store or an embedded one; four bots race at a table of each game."""
    more = ("--rate", "0", "--log-level", "warning", "--durability", durability)
    flags = flags_for(external.url if external else None, more)
    async with (
        running_server(*flags, module=QUICK) as server_process,
        racing_bots_at(server_process.url, games, pace, server_process, external) as bots,
    ):
        yield bots


@asynccontextmanager
async def racing_bots_at(
    url: str | Sequence[str],
    games: tuple[str, ...],
    pace: float,
    server_process: ServerProcess,
    external: StoreServer | None,
) -> AsyncIterator[RacingBots]:
    """Seat four bots at a table of each game; they race until the context ends.

    The players connect to the addresses in turn.
    """
    async with AsyncExitStack() as stack:
        bots = RacingBots(server_process, external)
        for number, game in enumerate(games, start=1):
            table = await stack.enter_async_context(
                players_at_a_table(url, game, f"Table{number}x")
            )
            bots.tables.append(table)
        for player in bots.players:
            player.notes.on_news = bots.changed.set
        bots.racing += [
            asyncio.create_task(player.race(None, pace, len(LINE_UP))) for player in bots.players
        ]
        try:
            yield bots
        finally:
            gone = await bots.stop_racing()
        assert gone == [], f"players have stopped: {gone}"


@asynccontextmanager
async def store_of(bots: RacingBots) -> AsyncIterator[Store]:
    """Open a store client of its own on the store that the bots' server uses."""
    async with open_store(bots.store_url) as store:
        yield store
