"""Run a storm: inject faults into an installation, as a seed says; audit races, look for leaks."""

import argparse
import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import NamedTuple

from kit.auditor import Auditor
from kit.faulty_link import FaultyLink, LinkConnection, LinkFault
from kit.installation import Installation, Node, leaks_of, open_installation
from kit.racing_bots import NeverHappened, RecordedPlayer
from kit.stores import StoreServer
from saratoga_rules.games import GAMES
from saratoga_server.store.opening import open_store

# Faults: each is a context that injects the fault, gives the players that it affects, and heals it

Affected = AsyncIterator[Iterable[RecordedPlayer]]
Inject = Callable[[Installation, Random], AbstractAsyncContextManager[Iterable[RecordedPlayer]]]


class Fault(NamedTuple):
    """A kind of fault, and the shortest and longest time in seconds to hold it."""

    inject: Inject
    hold: tuple[float, float] = (0.0, 0.0)


# Connections of players

ANSWER = b"\xa4type\xa5board\xa2re"
"""Part of the frame of every answer to a move in MessagePack."""

TRIED_FOR = 30.0
"""Longest time in seconds for a fault that waits for a move to take effect."""


@asynccontextmanager
async def lose_answer(installation: Installation, random: Random) -> Affected:
    """Cut a racer's connection when the answer to a move arrives; try until a racer moves."""
    until = time.monotonic() + TRIED_FOR
    while time.monotonic() < until:
        await installation.mid_race()
        player = random.choice([each for each in installation.players if each.notes.is_racing])
        lost = player.link.answers_lost

        def fault(link: FaultyLink, connection: LinkConnection) -> None:
            def to_client(data: bytes) -> bytes:
                if ANSWER not in data:
                    return data
                link.heal()
                installation.changed.set()
                return link.lose_answer(connection)

            connection.to_client = to_client

        player.link.inject(fault)
        await installation.until(
            lambda player=player, lost=lost: (  # type: ignore[misc]
                player.link.answers_lost > lost or not player.notes.is_racing
            ),
            "an answer lost",
        )
        player.link.heal()
        if player.link.answers_lost > lost:
            yield [player]
            return
    raise AssertionError("no move was answered in time")


@asynccontextmanager
async def make_half_open(installation: Installation, random: Random) -> Affected:
    """Make some connections half-open until their players have noticed it."""
    affected = random.sample(installation.players, 3)
    since = time.monotonic()
    for player in affected:
        player.link.go_half_open()
    unnoticed = list(affected)

    def all_have_noticed() -> bool:
        for player in list(unnoticed):
            notes = player.notes
            if not notes.is_connected or (notes.connected and notes.connected[-1] > since):
                unnoticed.remove(player)
        return not unnoticed

    await installation.until(all_have_noticed, "players notice half-open connections")
    yield affected
    for player in affected:
        player.link.cut_half_open()


@asynccontextmanager
async def stall(installation: Installation, random: Random) -> Affected:
    affected = random.sample(installation.players, 2)
    for player in affected:
        player.link.stall()
    yield affected
    for player in affected:
        player.link.heal()


@asynccontextmanager
async def cut_all(installation: Installation, random: Random) -> Affected:
    """Cut all connections at once, and again before all players have reconnected."""
    for _ in range(3):
        for player in installation.players:
            player.link.cut()
        await asyncio.sleep(random.uniform(0.05, 0.4))
    yield installation.players


# Nodes and their links to the store

PLAYER_WITHIN = 5.0
"""Longest time in seconds for a player to reconnect after the previous fault."""


async def some_node(installation: Installation, random: Random) -> Node:
    """Return a random running node, one with connected players if possible."""
    up = [node for node in installation.nodes if not node.is_down] or installation.nodes
    with suppress(NeverHappened):
        await installation.until(
            lambda: any(map(installation.at, up)), "a player at a node", PLAYER_WITHIN
        )
    return random.choice([node for node in up if installation.at(node)] or up)


def at_node(
    strike: Callable[[Node], Awaitable[object]], heal: Callable[[Node], Awaitable[object]] | None
) -> Inject:
    """Return a fault of some node; without `heal` the node goes on by itself."""

    @asynccontextmanager
    async def inject(installation: Installation, random: Random) -> Affected:
        node = await some_node(installation, random)
        affected = installation.at(node)
        node.is_down = heal is not None
        await strike(node)
        yield affected
        if heal is not None:
            await heal(node)
            node.is_down = False

    return inject


async def kill(node: Node) -> None:
    await node.server.kill()


async def stop(node: Node) -> None:
    code = await node.server.stop()
    assert code == 0, f"node {node.port} ended with exit code {code}"


async def start(node: Node) -> None:
    await node.server.start()


async def hang(node: Node) -> None:
    os.kill(node.server.pid, signal.SIGSTOP)


async def go_on(node: Node) -> None:
    os.kill(node.server.pid, signal.SIGCONT)


async def cut_off(node: Node) -> None:
    node.link.cut()


async def go_half_open(node: Node) -> None:
    node.link.go_half_open()


CUTS = 3
"""The number of store connections that one fault cuts within a request."""


def cut_within_commits(on_cut: Callable[[], None]) -> LinkFault:
    """Return a fault that forwards half of each commit, calls `on_cut` and cuts the connection."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        def to_server(data: bytes) -> bytes:
            if b"commit_boards" not in data:
                return data
            assert connection.server is not None
            connection.server.write(data[: len(data) // 2])
            on_cut()
            connection.cut()
            return b""

        connection.to_server = to_server

    return fault


@asynccontextmanager
async def cut_within_a_request(installation: Installation, random: Random) -> Affected:
    """Cut a node's commit connections while the node writes to them, several times."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    cuts = 0

    def cut() -> None:
        nonlocal cuts
        cuts += 1
        if cuts == CUTS:
            node.link.heal()
        installation.changed.set()

    node.link.inject(cut_within_commits(cut))
    try:
        await installation.until(lambda: cuts >= CUTS, "cuts within commits")
    finally:
        node.link.heal()
    yield affected


# The store

FULL_WITHIN = 20.0
"""Longest time in seconds for a store to notice its full disk."""


def at_store(
    strike: Callable[[StoreServer], object], heal: Callable[[StoreServer], object] = bool
) -> Inject:
    """Return a fault of the store."""

    @asynccontextmanager
    async def inject(installation: Installation, random: Random) -> Affected:
        await asyncio.to_thread(strike, installation.store)
        yield installation.players
        await asyncio.to_thread(heal, installation.store)

    return inject


def flush_functions(store: StoreServer) -> None:
    assert store.ask("FUNCTION", "FLUSH", "SYNC") == b"+OK"


def kill_clients(store: StoreServer) -> None:
    """Let the store close all its client connections."""
    for kind in ("normal", "pubsub"):
        store.ask("CLIENT", "KILL", "TYPE", kind)


def fill_disk(store: StoreServer) -> None:
    """Limit the store's log to its present size, so that the store exits."""
    process = store.process
    assert process is not None
    logs = [path for path in (store.folder / "appendonlydir").iterdir() if path.suffix == ".aof"]
    size = max(path.stat().st_size for path in logs)
    # One byte more than the log has, so that the next write is cut short.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size + 1, resource.RLIM_INFINITY))
    try:
        code = process.wait(FULL_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert code == 1, f"the store ended with exit code {code}"


NODE_KILLED = "node killed"

PARTS: dict[str, dict[str, Fault]] = {
    "connection": {
        "answer lost": Fault(lose_answer),
        "connection half-open": Fault(make_half_open),
        "reader stalled": Fault(stall, (0.5, 3.0)),
        "reconnect storm": Fault(cut_all),
    },
    "node": {
        NODE_KILLED: Fault(at_node(kill, start), (0.0, 0.5)),
        "node hung": Fault(at_node(hang, go_on), (0.3, 2.0)),
        "node hung for long": Fault(at_node(hang, go_on), (4.5, 6.0)),
        "node restarted": Fault(at_node(stop, start)),
    },
    "store": {
        "store connections cut": Fault(at_node(cut_off, None)),
        "store connections half-open": Fault(at_node(go_half_open, None)),
        "store cut within requests": Fault(cut_within_a_request),
        "store killed": Fault(at_store(StoreServer.kill, StoreServer.start), (0.0, 0.5)),
        "store away for long": Fault(at_store(StoreServer.kill, StoreServer.start), (6.0, 10.0)),
        "store hung": Fault(at_store(StoreServer.pause, StoreServer.resume), (0.2, 1.5)),
        "store hung for long": Fault(at_store(StoreServer.pause, StoreServer.resume), (2.5, 4.0)),
        "Functions flushed": Fault(at_store(flush_functions)),
        "connections closed by the store": Fault(at_store(kill_clients)),
        "store's disk full": Fault(at_store(fill_disk, StoreServer.start), (0.0, 0.5)),
    },
}
"""The faults by the part that they affect; two faults of one part never coincide.

Two that do are injected in this order and healed in the other: a node does not start while its
store is down. Those for long last longer than players, nodes or checks of the store wait.
"""


# The storm

LONGEST_PAUSE = 0.3
"""Longest pause in seconds between all players' recovery and the next fault."""

BACK_WITHIN = 10.0
"""The promised time in seconds for all players to be back after any fault is healed."""

BACK_AFTER_A_NODE = 2.0
"""The promised time in seconds for players of a killed node to be back at another one."""

INJECTED_WITHIN = 90.0
"""Seconds for a fault to be injected or healed: a bound that no storm should reach."""

TOGETHER = 3
"""The number of injections of which one has two faults at once."""

AUDITED_WITHIN = 600.0
"""Longest time in seconds for the audit of all races."""

FAULTS_A_RACE = 50
"""The number of faults for each race that every table must finish."""


@dataclass(frozen=True, slots=True)
class Storm:
    """A series of faults at an installation of three nodes and two tables."""

    seed: str
    """Determines the games, the order of the faults and what each affects."""
    faults: int
    only: Sequence[str] = ()
    """Only kinds whose name contains one of these texts; and never two at once."""
    report: Callable[[str], None] = lambda line: None

    @property
    def games(self) -> list[str]:
        return Random(self.seed).sample(list(GAMES), 2)

    @property
    def races(self) -> int:
        """The least number of races that every table must finish and that are audited."""
        return -(-self.faults // FAULTS_A_RACE)


def schedule(storm: Storm) -> Iterator[list[str]]:
    """Yield the names of the faults to inject at once: each kind equally often, in random order."""
    random = Random(f"schedule {storm.seed}")
    part_of = {
        name: part
        for part, faults in PARTS.items()
        for name in faults
        if any(text in name for text in storm.only or [""])
    }
    left: list[str] = []
    planned = number = 0
    while planned < storm.faults:
        if not left:
            left = list(part_of)
            random.shuffle(left)
        names = [left.pop()]
        number += 1
        others = [name for name in left if part_of[name] != part_of[names[0]]]
        if others and not storm.only and number % TOGETHER == 0:
            left.remove(others[0])
            names.append(others[0])
        planned += len(names)
        yield sorted(names, key=lambda name: list(PARTS).index(part_of[name]))


async def inject(installation: Installation, names: Sequence[str], random: Random) -> str | None:
    """Inject, hold and heal these faults; wait until all players are back; say if one was late."""
    found = {name: fault for faults in PARTS.values() for name, fault in faults.items()}
    await installation.mid_race()
    await asyncio.sleep(random.uniform(0, LONGEST_PAUSE))
    began = time.monotonic()
    affected: list[RecordedPlayer] = []
    async with asyncio.timeout(INJECTED_WITHIN) as bound, AsyncExitStack() as active:
        for name in names:
            affected += await active.enter_async_context(found[name].inject(installation, random))
            await asyncio.sleep(random.uniform(*found[name].hold))
        bound.reschedule(asyncio.get_running_loop().time() + INJECTED_WITHIN)
    promised, since, by_reconnect = BACK_WITHIN, time.monotonic(), False
    if list(names) == [NODE_KILLED]:
        promised, since, by_reconnect = BACK_AFTER_A_NODE, began, True
    took = await installation.all_back(affected, since, by_reconnect=by_reconnect) - since
    return None if took <= promised else f"all players back after {took:.2f} s, of {promised} s"


async def run_storm(storm: Storm) -> list[str]:
    """Run a storm to its end and audit everything; describe everything that went wrong."""
    async with open_installation(storm.games) as installation:
        async with open_store(installation.store.url) as store:
            auditor = Auditor(installation.tables, store)
            wrong = auditor.faults
            try:
                await _inject_all(storm, installation, wrong)
                await installation.finish(storm.races)
            except (NeverHappened, TimeoutError, AssertionError) as error:
                notes = getattr(error, "__notes__", [])
                wrong.append(f"{error!r} {notes}\n{installation.describe()}")
            await installation.stop_racing()
            wrong += installation.failures
            await asyncio.wait_for(auditor.audit_all(), AUDITED_WITHIN)
            wrong += [
                f"only {number} races of {code} were audited"
                for table in installation.tables
                if (number := auditor.races[code := table[0].notes.code]) < storm.races
            ]
            if not (auditor.moves and auditor.ranked and auditor.rows):
                wrong.append("no move or no leaderboard was audited")
        storm.report(
            f"{auditor.races.total()} finished races audited, {auditor.rows} rows of leaderboards"
            f" compared, {auditor.moves} moves acknowledged"
        )
        wrong += await leaks_of(installation)
        wrong += [str(fault) for node in installation.nodes for fault in node.server.faults()]
        return wrong


async def _inject_all(storm: Storm, installation: Installation, wrong: list[str]) -> None:
    for number, names in enumerate(schedule(storm), start=1):
        what = f"injection {number}, {' and '.join(names)}"
        storm.report(what)
        try:
            late = await inject(installation, names, Random(f"{storm.seed} {number}"))
        except (NeverHappened, TimeoutError, AssertionError) as error:
            error.add_note(what)
            raise
        if late:
            wrong.append(f"LATE: {what}: {late}")
            storm.report(f"WRONG: {wrong[-1]}")


def log(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m kit.storm", description="Run a long storm.")
    arguments.add_argument("--faults", type=int, default=1000, help="[default: 1000]")
    arguments.add_argument("--seed", default="", help="[default: random]")
    arguments.add_argument(
        "--only", action="append", help="only kinds whose name contains this; may be repeated"
    )
    options = arguments.parse_args()
    seed = options.seed or str(SystemRandom().randrange(1_000_000))
    storm = Storm(seed, options.faults, options.only or (), log)
    log(f"seed {seed}, {' and '.join(storm.games)}")
    wrong = asyncio.run(run_storm(storm))
    for fault in wrong:
        log(f"WRONG: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
