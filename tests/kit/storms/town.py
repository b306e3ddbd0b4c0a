"""Several nodes on one store, a balancer before them, and players who race for as long as they are let.

Every player has a line of its own, every node a clock of its own and, to a store that stands alone, a
way of its own. Nobody helps the players: whatever befalls them, they come back by themselves.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.cluster import Cluster, running_cluster
from kit.faulty_link import Dial, FaultyLink, link_to_store, to_ports
from kit.player_link import PlayerLink, player_link
from kit.recorded_players import Notes, NotingConnection, RecordedPlayer
from kit.server_process import ServerProcess
from kit.stepping_clocks import SteppingClock
from kit.stores import SCRATCH, StoreServer, free_port
from kit.storms.footprints import Footprint, footprint
from saratoga_client.net.connection import Timing
from saratoga_client.net.unanswered import Draft
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_server.embedded_store.process import find_binary

WITHIN = 60.0
"""Seconds: a bound for what is awaited, never a measure."""

FINISHED_WITHIN = 180.0
"""Seconds for the last races to end: a bound as well."""

LINE_UP = ("weak", "strong", "weak", "weak")
CAP = 20
"""Minutes of a race."""

TAIL = 12
"""Lines of each log that are told when something never came."""

KEEP_ON_FULL_DISK = ("sh", "-c", 'trap "" XFSZ; exec "$@"', "sh")
"""Runs a program that is told of a full disk by its write, and not killed by a signal."""


class NeverCame(Exception):
    """What was awaited did not come in time."""


@dataclass
class Node:
    """One server process, its clock, and its way to the store."""

    house: ServerProcess
    clock: SteppingClock
    link: FaultyLink | None
    metrics_port: int
    is_down: bool = False
    """Killed or stopped by a fault that is not healed yet."""

    @property
    def port(self) -> int:
        return self.house.port

    def footprint(self) -> Footprint:
        """What its process holds."""
        return footprint(self.house.pid, self.port, self.metrics_port)


@dataclass
class Guest:
    """A player and its line."""

    player: RecordedPlayer
    link: PlayerLink

    @property
    def notes(self) -> Notes:
        return self.player.notes

    def back_since(self, moment: float, *, by_connection: bool) -> float | None:
        """When the house took a move of the player's after that moment; `None`: not yet.

        Whoever has nothing to play is back when it hears the house again.
        """
        notes = self.notes
        if by_connection:
            connected = [at for at in notes.connected if at > moment]
            if not connected:
                return None
            moment = connected[0]
        for each in notes.acknowledged[-50:]:
            if each.moment > moment:
                return each.moment
        if notes.is_connected and not notes.is_racing and notes.heard > moment:
            return notes.heard
        return None

    def pause(self, since: float, until: float) -> float:
        """Seconds in which the house took no move of the player's; the longest of them.

        Between two races nobody waits for it to take any.
        """
        signs = [(each.moment, each.race) for each in self.notes.acknowledged]
        signs += [(moment, race) for race, moment in self.notes.over.items()]
        heard = sorted(sign for sign in signs if since < sign[0] <= until)
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
        link = "connected" if notes.is_connected else "away"
        ago = time.monotonic() - notes.heard
        return (
            f"{self.player.name} at {notes.code}: {notes.phase}{count}, {link} "
            f"(node {self.link.server_port}), heard the house {ago:.1f} s ago, "
            f"last refusals {dict(notes.refused)}"
        )


@dataclass
class Town:
    """All of it; made by `open_town`."""

    nodes: list[Node]
    dial: Dial
    """Connects to the next node that accepts."""
    standalone: StoreServer | None
    store_clock: SteppingClock | None
    cluster: Cluster | None
    before: list[Footprint] = field(default_factory=list)
    """What the nodes held when nobody had come yet."""
    tables: list[list[Guest]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    broken: list[str] = field(default_factory=list)
    """What has ended that never should."""
    players: list[asyncio.Task[object]] = field(default_factory=list)
    is_resting: bool = False

    @property
    def guests(self) -> list[Guest]:
        return [guest for table in self.tables for guest in table]

    @property
    def store_url(self) -> str:
        """The store itself, by no detour."""
        if self.cluster is not None:
            return self.cluster.url
        assert self.standalone is not None
        return self.standalone.url

    def up(self) -> list[Node]:
        return [node for node in self.nodes if not node.is_down]

    def at(self, node: Node) -> list[Guest]:
        """Whoever is connected to that node."""
        return [guest for guest in self.guests if guest.link.server_port == node.port]

    async def until(self, what: str, holds: Callable[[], bool], within: float = WITHIN) -> None:
        """Wait for something that the players will notice; raises `NeverCame`."""
        try:
            async with asyncio.timeout(within):
                while not holds():
                    if self.broken:
                        break
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            raise NeverCame(f"{what}: not within {within:.0f} s") from None
        if self.broken:
            raise NeverCame("; ".join(self.broken))

    async def all_back(
        self, guests: Iterable[Guest], since: float, what: str, *, by_connection: bool
    ) -> list[tuple[Guest, float]]:
        """Wait until they are all back; everybody with the moment."""
        back: list[tuple[Guest, float]] = []
        awaited = list(guests)

        def are_back() -> bool:
            for guest in list(awaited):
                moment = guest.back_since(since, by_connection=by_connection)
                if moment is not None:
                    back.append((guest, moment))
                    awaited.remove(guest)
            return not awaited

        await self.until(f"everybody back after {what}", are_back)
        return back

    async def mid_race(self) -> None:
        """Wait until everybody is connected, and at some table they race."""
        await self.until(
            "a race",
            lambda: (
                all(guest.notes.is_connected for guest in self.guests)
                and any(sum(g.notes.is_racing for g in table) > 1 for table in self.tables)
            ),
        )

    def racing(self) -> list[Guest]:
        """Who plays at this moment."""
        return [guest for guest in self.guests if guest.notes.is_racing]

    def race(self, pace: float) -> None:
        """Everybody races from now on, `pace` moves a second; whoever stops is broken."""

        def stopped(task: asyncio.Task[object], who: str) -> None:
            if not self.is_resting:
                why = "cancelled" if task.cancelled() else repr(task.exception())
                self.broken.append(f"{who} plays no more: {why}")
                self.news.set()

        for guest in self.guests:
            playing = guest.player.race(None, pace, len(LINE_UP))
            task: asyncio.Task[object] = asyncio.create_task(playing)
            task.add_done_callback(partial(stopped, who=guest.player.name))
            self.players.append(task)

    async def finish(self, races: int) -> None:
        """Let every table end so many races in all."""
        await self.until(
            f"the end of {races} races at every table",
            lambda: all(_newest_over(table) >= races for table in self.tables),
            FINISHED_WITHIN,
        )

    async def rest(self) -> None:
        """Nobody plays any more; all stay where they are."""
        self.is_resting = True
        for task in self.players:
            task.cancel()
        await asyncio.gather(*self.players, return_exceptions=True)
        self.players.clear()

    def picture(self) -> str:
        """How everything stands, for whoever looks for the reason."""
        lines = [str(guest) for guest in self.guests]
        for node in self.nodes:
            process = node.house.process
            state = "gone" if process is None else f"exit {process.returncode}"
            lines.append(f"node {node.port}, {state}, down {node.is_down}; its log ends:")
            lines += node.house.log.read_text().splitlines()[-TAIL:]
        if self.standalone is not None:
            lines.append("the store's log ends:")
            log = self.standalone.folder / "log"
            lines += log.read_text().splitlines()[-TAIL:]
        if self.cluster is not None:
            for each in self.cluster.nodes:
                lines.append(f"store {each.port}: {each.role() if each.is_alive else 'dead'}")
        return "\n".join(lines)

    def refusals(self) -> Counter[str]:
        """How often the house has said no, by code."""
        return sum((guest.notes.refused for guest in self.guests), Counter())


@asynccontextmanager
async def open_town(
    games: Sequence[str],
    *,
    nodes: int,
    pace: float,
    clustered: bool = False,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[Town]:
    """A town with a table of four for each of the games; they race until the end."""
    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(
                TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True)
            )
        )
        cluster = standalone = clock = None
        if clustered:
            cluster = await asyncio.to_thread(stack.enter_context, running_cluster())
        else:
            clock = SteppingClock(folder / "store-clock")
            standalone = _store(folder / "store", clock)
            stack.callback(standalone.kill)
            await asyncio.to_thread(standalone.start)
        ports: list[int] = []
        town = Town([], to_ports(ports), standalone, clock, cluster)
        town.nodes += [await _node(stack, town, folder, number) for number in range(nodes)]
        for node in town.nodes:
            stack.push_async_callback(node.house.stop)
        await asyncio.gather(*(node.house.start() for node in town.nodes))
        ports += [node.port for node in town.nodes]
        stack.push_async_callback(town.rest)
        try:
            town.before = [each.footprint() for each in town.nodes]
            for number, game in enumerate(games, start=1):
                town.tables.append(await _seated(stack, town, game, f"Table{number}x", timing))
        except Exception as trouble:
            trouble.add_note(town.picture())
            raise
        town.race(pace)
        yield town


def _newest_over(table: list[Guest]) -> int:
    """The number of the latest race that anybody at the table knows to be over."""
    over = (race for g in table for race in (*g.notes.outcomes, *g.notes.announced))
    return max((int(race.rpartition("/")[2]) for race in over), default=0)


def _store(folder: Path, clock: SteppingClock) -> StoreServer:
    folder.mkdir()
    return StoreServer(
        str(find_binary()), folder, before=[*clock.before_program, *KEEP_ON_FULL_DISK]
    )


async def _node(stack: AsyncExitStack, town: Town, folder: Path, number: int) -> Node:
    clock = SteppingClock(folder / f"clock-{number}")
    link = None
    url = town.store_url
    if town.standalone is not None:
        link = await stack.enter_async_context(
            link_to_store(town.standalone.socket, folder / f"link-{number}")
        )
        url = link.url
    metrics_port = free_port()
    durability = "safe" if town.cluster is None else "replicated"
    house = ServerProcess(
        folder / f"node-{number}",
        (
            *("--redis", url, "--durability", durability, "--node", f"node{number}"),
            *("--rate", "0", "--log-level", "warning"),
            *("--metrics-port", str(metrics_port)),
        ),
        before=clock.before_python,
    )
    return Node(house, clock, link, metrics_port)


async def _seated(
    stack: AsyncExitStack, town: Town, game: str, names: str, timing: Timing
) -> list[Guest]:
    table: list[Guest] = []
    sit_down: Draft = partial(CreateTable, game=game, cap=CAP, seats=len(LINE_UP))
    for number, strength in enumerate(LINE_UP, start=1):
        link = await stack.enter_async_context(player_link(town.dial))
        name = f"{names}{number}"
        house = await stack.enter_async_context(NotingConnection(link.url, name, timing))
        house.notes.player, house.notes.is_connected = house.welcome.player, True
        snapshot = await house.ask(sit_down, events.Snapshot)
        sit_down = partial(JoinTable, table=snapshot.table.code)
        table.append(Guest(RecordedPlayer(house, strength, number, name=name), link))
        house.notes.on_news = town.news.set
    return table
