"""Bots that race at several tables until they are stopped, and whose server or store can be killed meanwhile.

`Racing` keeps all bots racing. `kill` kills the server, the store, or both, starts what does not
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
from typing import Generic, TypeVar

from kit.altered_server import QUICK
from kit.auditor import Auditor
from kit.processes import wait_for_listener
from kit.recorded_players import LINE_UP, Notes, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess, flags_for, running_server
from kit.stores import StoreServer
from saratoga_server.store.opening import open_store

WITHIN = 60.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

FINISHED_WITHIN = 180.0
"""Longest time in seconds for the last races to end."""

AT_ONCE = 0.1
"""Seconds within which a process counts as restarted by itself, not by the test."""


class Victim(Enum):
    """Which processes are killed."""

    SERVER = "server"
    STORE = "store"
    BOTH = "both"


class NeverHappened(Exception):
    """An error: an awaited condition was not met in time, or a player stopped racing."""


P = TypeVar("P", bound=RecordedPlayer)


@dataclass
class Racing(Generic[P]):
    """Tables of bots that race until they are stopped."""

    tables: list[list[P]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at every event and connection change of any player."""
    failures: list[str] = field(default_factory=list)
    """Players that stopped racing by themselves, and why."""
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)
    """The bots' tasks."""

    @property
    def players(self) -> list[P]:
        return [player for table in self.tables for player in table]

    def start_racing(self, pace: float) -> None:
        """Let all players race at `pace` moves a second."""

        def stopped(task: "asyncio.Task[None]", name: str) -> None:
            if not task.cancelled():
                self.failures.append(f"{name} stopped racing: {task.exception()!r}")
                self.changed.set()

        for player in self.players:
            player.notes.on_news = self.changed.set
            task = asyncio.create_task(player.race(None, pace, len(LINE_UP)))
            task.add_done_callback(partial(stopped, name=player.name))
            self.tasks.append(task)

    async def stop_racing(self) -> None:
        """Stop all players; they stay connected."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.tasks.clear()

    async def until(
        self, holds: Callable[[], bool], what: str = "an event", within: float = WITHIN
    ) -> None:
        """Wait until `holds()` returns true; check at every event or connection change of a player.

        Raises `NeverHappened`.
        """
        try:
            async with asyncio.timeout(within):
                while not holds():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise NeverHappened(f"{what}: not within {within:.0f} s; {self.failures}") from None

    async def mid_race(self) -> None:
        """Wait until all players are connected, and a table has two racers in play and a move made."""

        def is_on(table: Sequence[P]) -> bool:
            boards = [player.notes.board for player in table if player.notes.is_racing]
            return len(boards) > 1 and any(board is not None and board.count for board in boards)

        await self.until(
            lambda: (
                all(player.notes.is_connected for player in self.players)
                and any(is_on(table) for table in self.tables)
            ),
            "a race",
        )

    async def finish(self, races: int = 0) -> None:
        """Wait until every table has finished `races` races, or without a number its present race."""
        wanted = [races or newest_finished(table) + 1 for table in self.tables]
        await self.until(
            lambda: all(
                newest_finished(table) >= number
                for table, number in zip(self.tables, wanted, strict=True)
            ),
            "the end of a race at every table",
            FINISHED_WITHIN,
        )


def newest_finished(table: Sequence[RecordedPlayer]) -> int:
    """Return the number of the latest race at the table that a player knows to be over."""
    notes = [player.notes for player in table]
    over = (race for each in notes for race in (*each.outcomes, *each.announced))
    return max((int(race.rpartition("/")[2]) for race in over), default=0)


@dataclass
class RacingBots(Racing[RecordedPlayer]):
    """Bots that race at several tables of one server."""

    server_process: ServerProcess = field(kw_only=True)
    external: StoreServer | None = None
    """The store if it runs outside the server, `None` if it is embedded."""
    returns: list[float] = field(default_factory=list)
    """Seconds from the restart until a player was back, one value for each player."""
    restarts: list[float] = field(default_factory=list)
    """Seconds from a kill until all processes ran again."""

    async def kill(self, victim: Victim) -> None:
        """Kill processes and start them again; wait until every player is back."""
        killed = time.monotonic()
        if victim is not Victim.SERVER:
            await self._kill_store()
        if victim is not Victim.STORE:
            await self.server_process.kill()
        down = time.monotonic()
        if victim is not Victim.SERVER and self.external is not None:
            await asyncio.to_thread(self.external.start)
        if victim is not Victim.STORE:
            await self.server_process.start()
        ready = time.monotonic()
        self.restarts.append(ready - killed)
        await self.all_back(down, ready, by_connection=victim is not Victim.STORE)

    async def all_back(self, since: float, ready: float, *, by_connection: bool) -> None:
        """Wait until every player is back after `since`; note how long after `ready` each was back."""
        back = partial(_back_at, since=since, by_connection=by_connection)
        await self.until(lambda: all(back(p.notes) is not None for p in self.players))
        self.returns.extend(
            max(0.0, moment - ready) for p in self.players if (moment := back(p.notes))
        )

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

    async def audited(self) -> tuple[int, int]:
        """Finish all races and audit them; return the numbers of races and of acknowledged moves."""
        await self.finish()
        return await self.audit()

    async def audit(self) -> tuple[int, int]:
        """Stop and audit all races; the players' notes on them are dropped."""
        await self.stop_racing()
        assert self.failures == []
        async with open_store(self.store_url) as store:
            auditor = Auditor(self.tables, store)
            await auditor.audit_all()
        assert auditor.faults == []
        assert auditor.unanswered == 0, "a player never had an answer to a stored move"
        return auditor.races.total(), auditor.moves

    def figures(self) -> str:
        """Return a text with the times that processes took to restart and players to resume."""
        up = f"up again in median {median(self.restarts):.2f} s, at most {max(self.restarts):.2f} s"
        if max(self.restarts) < AT_ONCE:
            up = "restarted by the server"
        return (
            f"{len(self.restarts)} kills, {up}; players back after that in median "
            f"{median(self.returns):.2f} s, at most {max(self.returns):.2f} s"
        )


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
        bots = RacingBots(server_process=server_process, external=external)
        for number, game in enumerate(games, start=1):
            seated = players_at_a_table(url, game, f"Table{number}x")
            bots.tables.append(await stack.enter_async_context(seated))
        bots.start_racing(pace)
        try:
            yield bots
        finally:
            await bots.stop_racing()
