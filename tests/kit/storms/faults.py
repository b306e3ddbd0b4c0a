"""The faults of a storm: of players' connections, of nodes and their links to the store, and of the store.

Each fault is injected into an installation, held for a while, and healed.
"""

import asyncio
import resource
import signal
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault
from kit.racing_bots import NeverHappened
from kit.storms.installation import Installation, Node, StormPlayer


async def nothing_to_heal() -> None:
    pass


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """An injected fault: the players it affects, and the function that heals it."""

    affected: Iterable[StormPlayer]
    heal: Callable[[], Awaitable[None]] = nothing_to_heal
    """Repair the damage; return when all processes run again."""


Inject = Callable[[Installation, Random], Awaitable[ActiveFault]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A kind of fault: how to inject it, how long to hold it, and how to time the recovery."""

    name: str
    part: str
    """The part of an installation that the fault affects; two faults of one part never coincide."""
    inject: Inject
    hold: tuple[float, float] = (0.0, 0.0)
    """Shortest and longest time in seconds between injection and healing."""
    from_heal: bool = False
    """If true, measure the players' recovery from the healing on, not from the injection."""
    needs_play: bool = False
    """If true, the fault needs players who make moves, and is injected first of two faults."""
    by_reconnect: bool = False
    """If true, players lose their connection and count as back only over a new one."""
    limit: float | None = None
    """The promised time in seconds for all players to be back from this fault alone; or `None`."""


# Connections of players

ANSWER = b"\xa4type\xa5board\xa2re"
"""Part of the frame of every answer to a move in MessagePack."""

CUTS_IN_A_STORM = 3
"""The number of times that one fault cuts all connections."""

TRIED_FOR = 30.0
"""Longest time in seconds for a fault that waits for a move to take effect."""


async def cut(installation: Installation, random: Random) -> ActiveFault:
    player = random.choice(installation.players)
    player.link.cut()
    return ActiveFault([player])


def cut_before_answer(player: StormPlayer, then: Callable[[], None]) -> None:
    """Cut the player's connection when the next answer to a move arrives; call `then`."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        def to_client(data: bytes) -> bytes:
            if ANSWER not in data:
                return data
            link.heal()
            then()
            return connection.lose()

        connection.to_client = to_client

    player.link.fault = fault
    for connection in player.link.connections:
        player.link.prepare(connection)


async def lose_answer(installation: Installation, random: Random) -> ActiveFault:
    """Lose the answer to a racer's move; if the board ends first, try another racer."""
    loop = asyncio.get_running_loop()
    until = loop.time() + TRIED_FOR
    while loop.time() < until:
        await installation.mid_race()
        player = random.choice(installation.racers())
        happened = asyncio.Event()

        def has_happened(happened: asyncio.Event = happened) -> None:
            happened.set()
            installation.changed.set()

        cut_before_answer(player, has_happened)
        await installation.until(
            lambda player=player, happened=happened: (
                happened.is_set() or not player.notes.is_racing
            ),  # type: ignore[misc]
            "an answer lost",
        )
        if happened.is_set():
            return ActiveFault([player])
        player.link.heal()
    raise AssertionError("no move was answered in time")


async def make_half_open(installation: Installation, random: Random) -> ActiveFault:
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
    return ActiveFault(affected, partial(_cut_half_open, affected))


async def _cut_half_open(players: list[StormPlayer]) -> None:
    for player in players:
        player.link.cut_half_open()


async def stall(installation: Installation, random: Random) -> ActiveFault:
    affected = random.sample(installation.players, 2)
    for player in affected:
        player.link.stall()
    return ActiveFault(affected, partial(_heal, affected))


async def _heal(players: list[StormPlayer]) -> None:
    for player in players:
        player.link.heal()


async def cut_all(installation: Installation, random: Random) -> ActiveFault:
    """Cut all connections at once, and again before all players have reconnected."""
    for _ in range(CUTS_IN_A_STORM):
        for player in installation.players:
            player.link.cut()
        await asyncio.sleep(random.uniform(0.05, 0.4))
    return ActiveFault(installation.players)


CONNECTION_FAULTS = (
    Fault(name="connection cut", part="connection", inject=cut, by_reconnect=True),
    Fault(name="answer lost", part="connection", inject=lose_answer, needs_play=True),
    Fault(
        name="connection half-open",
        part="connection",
        inject=make_half_open,
        needs_play=True,
        from_heal=True,
    ),
    Fault(name="reader stalled", part="connection", inject=stall, hold=(0.5, 3.0), from_heal=True),
    Fault(name="reconnect storm", part="connection", inject=cut_all, from_heal=True),
)


# Nodes

BACK_AFTER_A_NODE = 2.0
"""The promised time in seconds for players of a killed node to be back."""

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


async def kill_node(installation: Installation, random: Random) -> ActiveFault:
    node = await some_node(installation, random)
    affected = installation.at(node)
    node.is_down = True
    await node.server.kill()
    return ActiveFault(affected, partial(_start, node))


async def _start(node: Node) -> None:
    await node.server.start()
    node.is_down = False


async def hang_node(installation: Installation, random: Random) -> ActiveFault:
    node = await some_node(installation, random)
    affected = installation.at(node)
    node.is_down = True
    assert node.server.process is not None
    node.server.process.send_signal(signal.SIGSTOP)
    return ActiveFault(affected, partial(_resume, node))


async def _resume(node: Node) -> None:
    assert node.server.process is not None
    node.server.process.send_signal(signal.SIGCONT)
    node.is_down = False


async def restart(installation: Installation, random: Random) -> ActiveFault:
    """Stop a node and start it again."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    node.is_down = True
    code = await node.server.stop()
    assert code == 0, f"node {node.port} ended with exit code {code}"
    return ActiveFault(affected, partial(_start, node))


async def cut_off(installation: Installation, random: Random) -> ActiveFault:
    """Cut all connections between a node and the store."""
    node = await some_node(installation, random)
    node.link.cut()
    return ActiveFault(installation.at(node))


async def make_store_half_open(installation: Installation, random: Random) -> ActiveFault:
    """Make all connections between a node and the store half-open."""
    node = await some_node(installation, random)
    node.link.go_half_open()
    return ActiveFault(installation.at(node))


NODE_FAULTS = (
    Fault(
        name="node killed",
        part="node",
        inject=kill_node,
        hold=(0.0, 0.5),
        by_reconnect=True,
        limit=BACK_AFTER_A_NODE,
    ),
    Fault(name="node hung", part="node", inject=hang_node, hold=(0.3, 2.0), from_heal=True),
    Fault(name="node restarted", part="node", inject=restart, by_reconnect=True),
)

NODE_HUNG_LONG = Fault(
    name="node hung for long", part="node", inject=hang_node, hold=(4.5, 6.0), from_heal=True
)
"""A fault that lasts longer than players wait for an event."""


CUTS = 3
"""The number of store connections that one fault cuts within a request."""


def cut_within_commits(on_cut: Callable[[], None]) -> LinkFault:
    """Return a fault that forwards half of each commit, calls `on_cut` and cuts the connection."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        def to_server(data: bytes) -> bytes:
            if b"commit_boards" not in data:
                return data
            connection.send_to_server(data[: len(data) // 2])
            on_cut()
            connection.cut()
            return b""

        connection.to_server = to_server

    return fault


async def cut_within_a_request(installation: Installation, random: Random) -> ActiveFault:
    """Cut a node's commit connections while the node writes to them, several times."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    link = node.link
    cuts = 0

    def cut() -> None:
        nonlocal cuts
        cuts += 1
        if cuts == CUTS:
            link.heal()
        installation.changed.set()

    link.fault = cut_within_commits(cut)
    for connection in link.connections:
        link.prepare(connection)
    try:
        await installation.until(lambda: cuts >= CUTS, "cuts within commits")
    finally:
        link.heal()
    return ActiveFault(affected)


STORE_LINK_FAULTS = (
    Fault(name="store connections cut", part="store", inject=cut_off),
    Fault(name="store connections half-open", part="store", inject=make_store_half_open),
    Fault(
        name="store cut within requests", part="store", inject=cut_within_a_request, needs_play=True
    ),
)
"""Faults of the links between nodes and the store."""


# The store

FULL_WITHIN = 20.0
"""Longest time in seconds for a store to notice its full disk."""


async def kill_store(installation: Installation, random: Random) -> ActiveFault:
    store = installation.store
    await asyncio.to_thread(store.kill)
    return ActiveFault(installation.players, partial(asyncio.to_thread, store.start))


async def hang_store(installation: Installation, random: Random) -> ActiveFault:
    store = installation.store
    store.pause()
    return ActiveFault(installation.players, partial(asyncio.to_thread, store.resume))


async def flush_functions(installation: Installation, random: Random) -> ActiveFault:
    reply = await asyncio.to_thread(installation.store.ask, "FUNCTION", "FLUSH", "SYNC")
    assert reply == b"+OK"
    return ActiveFault(installation.players)


async def kill_clients(installation: Installation, random: Random) -> ActiveFault:
    """Let the store close all its client connections."""
    kind = random.choice(["normal", "pubsub"])
    await asyncio.to_thread(installation.store.ask, "CLIENT", "KILL", "TYPE", kind)
    return ActiveFault(installation.players)


async def fill_disk(installation: Installation, random: Random) -> ActiveFault:
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
    return ActiveFault(installation.players, partial(asyncio.to_thread, store.start))


STORE_FAULTS = (
    Fault(name="store killed", part="store", inject=kill_store, hold=(0.0, 0.5), from_heal=True),
    Fault(name="store hung", part="store", inject=hang_store, hold=(0.2, 1.5), from_heal=True),
    Fault(name="Functions flushed", part="store", inject=flush_functions),
    Fault(name="connections closed by the store", part="store", inject=kill_clients),
    Fault(
        name="store's disk full", part="store", inject=fill_disk, hold=(0.0, 0.5), from_heal=True
    ),
)

STORE_HUNG_LONG = Fault(
    name="store hung for long", part="store", inject=hang_store, hold=(2.5, 4.0), from_heal=True
)
"""A fault that lasts longer than a node waits for a reply."""

STORE_AWAY_LONG = Fault(
    name="store away for long", part="store", inject=kill_store, hold=(6.0, 10.0), from_heal=True
)
"""A fault that lasts longer than the time between two checks of the store."""

SHORT = (*NODE_FAULTS, *STORE_LINK_FAULTS, *STORE_FAULTS, *CONNECTION_FAULTS)
LONG = (*SHORT, NODE_HUNG_LONG, STORE_HUNG_LONG, STORE_AWAY_LONG)
