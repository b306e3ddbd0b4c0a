"""The faults of a storm: of players' connections, of nodes and their links to the store, and of the store.

Each is a context: it injects the fault, gives the players that it affects, and heals it at the end.
"""

import asyncio
import resource
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from random import Random
from typing import NamedTuple

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault
from kit.racing_bots import NeverHappened, RecordedPlayer
from kit.storms.installation import Installation, Node

Affected = AsyncIterator[Iterable[RecordedPlayer]]


class Fault(NamedTuple):
    """A kind of fault, and the shortest and longest time in seconds to hold it."""

    inject: Callable[[Installation, Random], AbstractAsyncContextManager[Iterable[RecordedPlayer]]]
    hold: tuple[float, float] = (0.0, 0.0)


# Connections of players

ANSWER = b"\xa4type\xa5board\xa2re"
"""Part of the frame of every answer to a move in MessagePack."""

TRIED_FOR = 30.0
"""Longest time in seconds for a fault that waits for a move to take effect."""


@asynccontextmanager
async def lose_answer(installation: Installation, random: Random) -> Affected:
    """Cut a racer's connection when the answer to a move arrives; if the board ends first, try another racer."""
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


# Nodes

PLAYER_WITHIN = 5.0
"""Longest time in seconds for a player to reconnect after the previous fault."""


async def some_node(installation: Installation, random: Random) -> Node:
    """Return a random running node, one with connected players if possible."""
    up = installation.up() or installation.nodes
    with suppress(NeverHappened):
        await installation.until(
            lambda: any(map(installation.at, up)), "a player at a node", PLAYER_WITHIN
        )
    return random.choice([node for node in up if installation.at(node)] or up)


@asynccontextmanager
async def down(node: Node) -> AsyncIterator[None]:
    node.is_down = True
    yield
    await node.server.start()
    node.is_down = False


@asynccontextmanager
async def kill_node(installation: Installation, random: Random) -> Affected:
    node = await some_node(installation, random)
    affected = installation.at(node)
    async with down(node):
        await node.server.kill()
        yield affected


@asynccontextmanager
async def restart(installation: Installation, random: Random) -> Affected:
    """Stop a node and start it again."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    async with down(node):
        code = await node.server.stop()
        assert code == 0, f"node {node.port} ended with exit code {code}"
        yield affected


@asynccontextmanager
async def hang_node(installation: Installation, random: Random) -> Affected:
    node = await some_node(installation, random)
    affected = installation.at(node)
    assert node.server.process is not None
    node.is_down = True
    node.server.process.send_signal(signal.SIGSTOP)
    yield affected
    node.server.process.send_signal(signal.SIGCONT)
    node.is_down = False


# Links between nodes and the store


@asynccontextmanager
async def cut_off(installation: Installation, random: Random) -> Affected:
    """Cut all connections between a node and the store."""
    node = await some_node(installation, random)
    node.link.cut()
    yield installation.at(node)


@asynccontextmanager
async def make_store_half_open(installation: Installation, random: Random) -> Affected:
    """Make all connections between a node and the store half-open."""
    node = await some_node(installation, random)
    node.link.go_half_open()
    yield installation.at(node)


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


@asynccontextmanager
async def kill_store(installation: Installation, random: Random) -> Affected:
    await asyncio.to_thread(installation.store.kill)
    yield installation.players
    await asyncio.to_thread(installation.store.start)


@asynccontextmanager
async def hang_store(installation: Installation, random: Random) -> Affected:
    installation.store.pause()
    yield installation.players
    installation.store.resume()


@asynccontextmanager
async def flush_functions(installation: Installation, random: Random) -> Affected:
    reply = await asyncio.to_thread(installation.store.ask, "FUNCTION", "FLUSH", "SYNC")
    assert reply == b"+OK"
    yield installation.players


@asynccontextmanager
async def kill_clients(installation: Installation, random: Random) -> Affected:
    """Let the store close all its client connections."""
    kind = random.choice(["normal", "pubsub"])
    await asyncio.to_thread(installation.store.ask, "CLIENT", "KILL", "TYPE", kind)
    yield installation.players


@asynccontextmanager
async def fill_disk(installation: Installation, random: Random) -> Affected:
    """Limit the store's log to its present size, so that the store exits; then remove the limit."""
    store = installation.store
    process = store.process
    assert process is not None
    logs = [path for path in (store.folder / "appendonlydir").iterdir() if path.suffix == ".aof"]
    size = max(path.stat().st_size for path in logs)
    # One byte more than the log has, so that the next write is cut short.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size + 1, resource.RLIM_INFINITY))
    try:
        code = await asyncio.to_thread(process.wait, FULL_WITHIN)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        raise
    assert code == 1, f"the store ended with exit code {code}"
    yield installation.players
    await asyncio.to_thread(store.start)


NODE_KILLED = "node killed"

PARTS: dict[str, dict[str, Fault]] = {
    "connection": {
        "answer lost": Fault(lose_answer),
        "connection half-open": Fault(make_half_open),
        "reader stalled": Fault(stall, (0.5, 3.0)),
        "reconnect storm": Fault(cut_all),
    },
    "node": {
        NODE_KILLED: Fault(kill_node, (0.0, 0.5)),
        "node hung": Fault(hang_node, (0.3, 2.0)),
        "node hung for long": Fault(hang_node, (4.5, 6.0)),
        "node restarted": Fault(restart),
    },
    "store": {
        "store connections cut": Fault(cut_off),
        "store connections half-open": Fault(make_store_half_open),
        "store cut within requests": Fault(cut_within_a_request),
        "store killed": Fault(kill_store, (0.0, 0.5)),
        "store away for long": Fault(kill_store, (6.0, 10.0)),
        "store hung": Fault(hang_store, (0.2, 1.5)),
        "store hung for long": Fault(hang_store, (2.5, 4.0)),
        "Functions flushed": Fault(flush_functions),
        "connections closed by the store": Fault(kill_clients),
        "store's disk full": Fault(fill_disk, (0.0, 0.5)),
    },
}
"""The faults by the part that they affect; two faults of one part never coincide.

Two that do are injected in this order and healed in the other: a node does not start while its
store is down. Those for long last longer than players, nodes or checks of the store wait.
"""
