"""The target of a storm: server nodes, their store, and players who race all the time.

Each player connects through its own link to the nodes in turn. Each node has its
own link to the store. Players reconnect by themselves after every fault.
"""

import asyncio
import fcntl
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kit.faulty_link import Dial, FaultyLink, PlayerLink, link_to_store, player_link, to_ports
from kit.recorded_players import Notes, NotingConnection, RecordedPlayer
from kit.server_process import ServerProcess
from kit.stores import SCRATCH, StoreServer, free_port
from kit.storms.footprints import Footprint, footprint
from saratoga_client.net.connection import Timing
from saratoga_client.net.unanswered import Draft
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_server.embedded_store.process import find_binary

RECENT = 50
"""The number of latest acknowledged moves that `back_since` searches."""


@dataclass
class StormPlayer:
    """A racing bot and its faulty link to the servers."""

    bot: RecordedPlayer
    link: PlayerLink

    @property
    def notes(self) -> Notes:
        return self.bot.notes

    def back_since(self, moment: float, *, by_reconnect: bool) -> float | None:
        """Return when the server first acknowledged a move after `moment`, `None` if it has not yet.

        A player without a board to play on is back when any event arrives. With `by_reconnect`, only
        what follows a new connection counts.
        """
        notes = self.notes
        if by_reconnect:
            connected = [at for at in notes.connected if at > moment]
            if not connected:
                return None
            moment = connected[0]
        for each in notes.acknowledged[-RECENT:]:
            if each.moment > moment:
                return each.moment
        if notes.is_connected and not notes.is_racing and notes.heard > moment:
            return notes.heard
        return None

    def pause(self, since: float, until: float) -> float:
        """Return the longest time in seconds without an acknowledged move.

        The time between two races does not count.
        """
        answers = [(each.moment, each.race) for each in self.notes.acknowledged]
        answers += [(moment, race) for race, moment in self.notes.over.items()]
        heard = sorted(answer for answer in answers if since < answer[0] <= until)
        if not heard:
            return until - since
        stops = [(since, heard[0][1]), *heard]
        return max(
            after[0] - before[0] for before, after in pairwise(stops) if before[1] == after[1]
        )

    def __str__(self) -> str:
        notes = self.notes
        board = notes.board
        count = "" if board is None else f", {board.count} moves ({board.state})"
        link = "connected" if notes.is_connected else "disconnected"
        ago = time.monotonic() - notes.heard
        return (
            f"{self.bot.name} at {notes.code}: {notes.phase}{count}, {link} "
            f"(node {self.link.server_port}), last event {ago:.1f} s ago, "
            f"refusals {dict(notes.refused)}"
        )


SIZE: Final = 4096
"""The size of the pipe in bytes, the smallest that Linux makes."""


class LogPipe:
    """A named pipe from a server's standard error to a log file."""

    def __init__(self, pipe: Path, log: Path) -> None:
        self._path = pipe
        self._log = log
        os.mkfifo(pipe)
        # open in both directions: the pipe stays while the server is restarted
        self._pipe = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, SIZE)

    @property
    def before_program(self) -> tuple[str, ...]:
        """Return the command prefix of the server."""
        return ("sh", "-c", 'exec 2>"$0" "$@"', str(self._path))

    def stop_reading(self) -> None:
        """Read no more, and fill the pipe with empty lines, so that the server's next line waits."""
        asyncio.get_running_loop().remove_reader(self._pipe)
        try:
            while True:
                os.write(self._pipe, b"\n")
        except BlockingIOError:
            pass

    def resume_reading(self) -> None:
        """Copy everything to the log file from now on."""
        asyncio.get_running_loop().add_reader(self._pipe, self._copy)

    def _copy(self) -> None:
        with self._log.open("ab") as log:
            log.write(os.read(self._pipe, SIZE))

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pipe)
        os.close(self._pipe)


@contextmanager
def log_pipe(folder: Path, log: Path) -> Iterator[LogPipe]:
    """A pipe in `folder` that is read into the file `log`."""
    folder.mkdir(parents=True, exist_ok=True)
    pipe = LogPipe(folder / "log-pipe", log)
    pipe.resume_reading()
    try:
        yield pipe
    finally:
        pipe.close()


WITHIN = 60.0
"""Seconds for anything awaited: a bound that no storm should reach."""

FINISHED_WITHIN = 180.0
"""Longest time in seconds for the last races to end."""

LINE_UP = ("weak", "strong", "weak", "weak")
CAP = 20
"""Time limit of a race in minutes."""

LOG_LINES = 12
"""The number of lines from the end of each log in the description of a failure."""

KEEP_ON_FULL_DISK = ("sh", "-c", 'trap "" XFSZ; exec "$@"', "sh")
"""A command prefix: a write to a full disk fails in the program and does not kill it."""


class NeverHappened(Exception):
    """An error: an awaited condition was not met in time, or a player stopped racing."""


@dataclass
class Node:
    """One server process, and its link to the store."""

    server: ServerProcess
    module: str
    """The module that the node runs in its usual version."""
    link: FaultyLink
    log: LogPipe
    metrics_port: int
    is_down: bool = False
    """True if a fault that is not healed yet has killed, paused or stopped the node."""

    @property
    def port(self) -> int:
        return self.server.port

    def footprint(self) -> Footprint:
        """Count the resources that the node's process holds open."""
        return footprint(self.server.pid, self.port, self.metrics_port)


@dataclass
class Installation:
    """Nodes, store, tables and players; opened by `open_installation`."""

    nodes: list[Node]
    dial: Dial
    """A function that connects to the next node that accepts."""
    store: StoreServer
    baseline: list[Footprint] = field(default_factory=list)
    """The resources that each node held before the first player connected."""
    tables: list[list[StormPlayer]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at every event and connection change of any player."""
    failures: list[str] = field(default_factory=list)
    """Players that stopped racing, and why."""
    racing_tasks: list[asyncio.Task[object]] = field(default_factory=list)
    is_stopping: bool = False

    @property
    def players(self) -> list[StormPlayer]:
        return [player for table in self.tables for player in table]

    @property
    def store_url(self) -> str:
        """The store's own address, which bypasses the fault-injecting links."""
        return self.store.url

    def up(self) -> list[Node]:
        return [node for node in self.nodes if not node.is_down]

    def at(self, node: Node) -> list[StormPlayer]:
        """Return the players that are connected to a node."""
        return [player for player in self.players if player.link.server_port == node.port]

    async def until(self, what: str, holds: Callable[[], bool], within: float = WITHIN) -> None:
        """Wait until `holds()` returns true; check at every event or connection change of a player.

        Raises `NeverHappened`.
        """
        try:
            async with asyncio.timeout(within):
                while not holds():
                    if self.failures:
                        break
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise NeverHappened(f"{what}: not within {within:.0f} s") from None
        if self.failures:
            raise NeverHappened("; ".join(self.failures))

    async def all_back(
        self, players: Iterable[StormPlayer], since: float, what: str, *, by_reconnect: bool
    ) -> list[tuple[StormPlayer, float]]:
        """Wait until all these players are back; return each with its time of return."""
        back: list[tuple[StormPlayer, float]] = []
        awaited = list(players)

        def are_back() -> bool:
            for player in list(awaited):
                moment = player.back_since(since, by_reconnect=by_reconnect)
                if moment is not None:
                    back.append((player, moment))
                    awaited.remove(player)
            return not awaited

        await self.until(f"all players back after {what}", are_back)
        return back

    async def mid_race(self) -> None:
        """Wait until all players are connected and a table has two or more racers in play."""
        await self.until(
            "a race",
            lambda: (
                all(player.notes.is_connected for player in self.players)
                and any(
                    sum(player.notes.is_racing for player in table) > 1 for table in self.tables
                )
            ),
        )

    def racing(self) -> list[StormPlayer]:
        """Return the players whose boards are in play."""
        return [player for player in self.players if player.notes.is_racing]

    def start_racing(self, pace: float) -> None:
        """Let all players race at `pace` moves a second; a player that stops is a failure."""

        def stopped(task: asyncio.Task[object], name: str) -> None:
            if not self.is_stopping:
                why = "cancelled" if task.cancelled() else repr(task.exception())
                self.failures.append(f"{name} stopped racing: {why}")
                self.changed.set()

        for player in self.players:
            playing = player.bot.race(None, pace, len(LINE_UP))
            task: asyncio.Task[object] = asyncio.create_task(playing)
            task.add_done_callback(partial(stopped, name=player.bot.name))
            self.racing_tasks.append(task)

    async def finish(self, races: int) -> None:
        """Wait until every table has finished `races` races."""
        await self.until(
            f"the end of {races} races at every table",
            lambda: all(_newest_finished(table) >= races for table in self.tables),
            FINISHED_WITHIN,
        )

    async def stop_racing(self) -> None:
        """Stop all players; they stay connected."""
        self.is_stopping = True
        for task in self.racing_tasks:
            task.cancel()
        await asyncio.gather(*self.racing_tasks, return_exceptions=True)
        self.racing_tasks.clear()

    def describe(self) -> str:
        """Describe the state of players, nodes and store, for the report of a failure."""
        lines = [str(player) for player in self.players]
        for node in self.nodes:
            process = node.server.process
            state = "not running" if process is None else f"exit {process.returncode}"
            lines.append(f"node {node.port}, {state}, down {node.is_down}; its log ends:")
            lines += node.server.log.read_text().splitlines()[-LOG_LINES:]
        lines.append("the store's log ends:")
        lines += (self.store.folder / "log").read_text().splitlines()[-LOG_LINES:]
        return "\n".join(lines)

    def refusals(self) -> Counter[str]:
        """Count the refusals that all players received, by code."""
        return sum((player.notes.refused for player in self.players), Counter())


@asynccontextmanager
async def open_installation(
    games: Sequence[str],
    *,
    nodes: int,
    pace: float,
    module: str = ServerProcess.module,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[Installation]:
    """Start an installation with a table of four for each game; players race until the end."""
    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(
                TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True)
            )
        )
        store = _store(folder / "store")
        stack.callback(store.kill)
        await asyncio.to_thread(store.start)
        ports: list[int] = []
        installation = Installation([], to_ports(ports), store)
        installation.nodes += [
            await _node(stack, installation, folder, number, module) for number in range(nodes)
        ]
        for node in installation.nodes:
            stack.push_async_callback(node.server.stop)
        await asyncio.gather(*(node.server.start() for node in installation.nodes))
        ports += [node.port for node in installation.nodes]
        stack.push_async_callback(installation.stop_racing)
        try:
            installation.baseline = [each.footprint() for each in installation.nodes]
            for number, game in enumerate(games, start=1):
                installation.tables.append(
                    await _seated(stack, installation, game, f"Table{number}x", timing)
                )
        except Exception as error:
            error.add_note(installation.describe())
            raise
        installation.start_racing(pace)
        yield installation


def _newest_finished(table: list[StormPlayer]) -> int:
    """Return the number of the latest race at the table that a player knows to be over."""
    notes = [player.notes for player in table]
    over = (race for each in notes for race in (*each.outcomes, *each.announced))
    return max((int(race.rpartition("/")[2]) for race in over), default=0)


def _store(folder: Path) -> StoreServer:
    folder.mkdir()
    return StoreServer(str(find_binary()), folder, before=[*KEEP_ON_FULL_DISK])


async def _node(
    stack: AsyncExitStack, installation: Installation, folder: Path, number: int, module: str
) -> Node:
    link = await stack.enter_async_context(
        link_to_store(installation.store.socket, folder / f"link-{number}")
    )
    metrics_port = free_port()
    server = ServerProcess(
        folder / f"node-{number}",
        (
            *("--redis", link.url, "--durability", "safe", "--node", f"node{number}"),
            *("--rate", "0", "--log-level", "warning"),
            *("--metrics-port", str(metrics_port)),
        ),
        module=module,
    )
    log = stack.enter_context(log_pipe(server.folder, server.log))
    server.before = log.before_program
    return Node(server, module, link, log, metrics_port)


async def _seated(
    stack: AsyncExitStack, installation: Installation, game: str, names: str, timing: Timing
) -> list[StormPlayer]:
    table: list[StormPlayer] = []
    join: Draft = partial(CreateTable, game=game, cap=CAP, seats=len(LINE_UP))
    for number, strength in enumerate(LINE_UP, start=1):
        link = await stack.enter_async_context(player_link(installation.dial))
        name = f"{names}{number}"
        connection = await stack.enter_async_context(NotingConnection(link.url, name, timing))
        notes = connection.notes
        notes.player, notes.is_connected = connection.welcome.player, True
        snapshot = await connection.ask(join, events.Snapshot)
        join = partial(JoinTable, table=snapshot.table.code)
        table.append(StormPlayer(RecordedPlayer(connection, strength, number, name=name), link))
        notes.on_news = installation.changed.set
    return table
