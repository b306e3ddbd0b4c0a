"""Bots that race at several tables until they are stopped, and whose server or store can be killed meanwhile.

The players reconnect by themselves, and all that they were sent is audited at the end.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from kit.altered_server import QUICK
from kit.auditor import Auditor
from kit.recorded_players import LINE_UP, Notes, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess, flags_for, running_server, wait_for_listener
from kit.stores import StoreServer
from saratoga_server.ports import Durability
from saratoga_server.store.opening import open_store

WITHIN = 60.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

FINISHED_WITHIN = 180.0
"""Longest time in seconds for the last races to end."""

RECENT = 50
"""The number of latest acknowledged moves that `back_at` searches."""


class Victim(Enum):
    """Which processes are killed."""

    SERVER = "server"
    STORE = "store"
    BOTH = "both"


class NeverHappened(Exception):
    """An error: an awaited condition was not met in time, or a player stopped racing."""


@dataclass
class Racing:
    """Tables of bots that race until they are stopped."""

    tables: list[list[RecordedPlayer]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at every event and connection change of any player."""
    failures: list[str] = field(default_factory=list)
    """Players that stopped racing by themselves, and why."""
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)
    """The bots' tasks."""

    @property
    def players(self) -> list[RecordedPlayer]:
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

        def is_on(table: Sequence[RecordedPlayer]) -> bool:
            boards = [player.notes.board for player in table if player.notes.is_racing]
            return len(boards) > 1 and any(board is not None and board.count for board in boards)

        await self.until(
            lambda: (
                all(player.notes.is_connected for player in self.players)
                and any(is_on(table) for table in self.tables)
            ),
            "a race",
        )

    async def all_back(
        self, players: Iterable[RecordedPlayer], since: float, *, by_reconnect: bool = False
    ) -> float:
        """Wait until all these players are back; return when the last one was."""
        back = partial(back_at, since=since, by_reconnect=by_reconnect)
        awaited = list(players)
        await self.until(
            lambda: all(back(each.notes) is not None for each in awaited), "all players back"
        )
        return max((back(each.notes) or since for each in awaited), default=since)

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


def back_at(notes: Notes, since: float, *, by_reconnect: bool) -> float | None:
    """Return when the server first acknowledged a move after `since`, `None` if it has not yet.

    A player without a board to play on is back when any event arrives. With `by_reconnect`, only
    what follows a new connection counts.
    """
    if by_reconnect:
        since = min((at for at in notes.connected if at > since), default=float("inf"))
    moments = [each.moment for each in notes.acknowledged[-RECENT:] if each.moment > since]
    if notes.is_connected and not notes.is_racing and notes.heard > since:
        moments.append(notes.heard)
    return min(moments, default=None)


def newest_finished(table: Sequence[RecordedPlayer]) -> int:
    """Return the number of the latest race at the table that a player knows to be over."""
    notes = [player.notes for player in table]
    over = (race for each in notes for race in (*each.outcomes, *each.announced))
    return max((int(race.rpartition("/")[2]) for race in over), default=0)


@dataclass
class RacingBots(Racing):
    """Bots that race at several tables of one server."""

    server_process: ServerProcess = field(kw_only=True)
    store_url: str = field(kw_only=True)
    durability: Durability = Durability.SAFE

    async def kill(self, victim: Victim) -> None:
        """Kill the server, its embedded store, or both; wait until every player is back."""
        if victim is not Victim.SERVER:
            # the store may still be starting after the kill before
            socket = self.server_process.store_socket
            os.kill(await asyncio.to_thread(wait_for_listener, socket), signal.SIGKILL)
        if victim is not Victim.STORE:
            await self.server_process.kill()
        down = time.monotonic()
        if victim is not Victim.STORE:
            await self.server_process.start()
        await self.all_back(self.players, down, by_reconnect=victim is not Victim.STORE)

    async def audit(self) -> tuple[int, int]:
        """Stop and audit all races; return the numbers of races and of acknowledged moves."""
        await self.stop_racing()
        assert self.failures == []
        async with open_store(self.store_url, self.durability) as store:
            auditor = Auditor(self.tables, store)
            await auditor.audit_all()
        assert auditor.faults == []
        assert auditor.unanswered == 0, "a player never had an answer to a stored move"
        return auditor.races.total(), auditor.moves


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
    async with running_server(*flags, module=QUICK) as server_process:
        store = external.url if external else f"unix://{server_process.store_socket}"
        async with racing_bots_at(server_process.url, games, pace, server_process, store) as bots:
            bots.durability = Durability(durability)
            yield bots


@asynccontextmanager
async def racing_bots_at(
    url: str, games: tuple[str, ...], pace: float, server_process: ServerProcess, store_url: str
) -> AsyncIterator[RacingBots]:
    """Seat four bots at a table of each game; they race until the context ends."""
    async with AsyncExitStack() as stack:
        bots = RacingBots(server_process=server_process, store_url=store_url)
        for number, game in enumerate(games, start=1):
            seated = players_at_a_table(url, game, f"Table{number}x")
            bots.tables.append(await stack.enter_async_context(seated))
        bots.start_racing(pace)
        try:
            yield bots
        finally:
            await bots.stop_racing()
