"""`kill -9` and lost connections in mid-race: no acknowledged move is lost or doubled, and every player comes back.

Each bot records the moves that are acknowledged to it. After the races, every record and every stored log
must contain them. At several nodes, a test can break the connections for events alone. At a settlement, the
link between server and store drops everything after one of its steps, so every result counts exactly once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path
from random import Random

import pytest

from kit.altered_server import QUICK
from kit.faulty_link import FaultyLink, LinkConnection, link_to_store, listening, to_ports
from kit.programs import note
from kit.racing_bots import RacingBots, Victim, racing_bots, racing_bots_at
from kit.recorded_players import LINE_UP
from kit.server_process import ServerProcess, flags_for, nodes_on, running_server
from kit.stores import StoreServer

PACE = 120.0
"""Moves a second of each player in the short tests."""

LONGEST_PAUSE = 0.3
"""Longest time in seconds that all players race before the next kill."""


async def kill_in_mid_race(bots: RacingBots, victim: Victim, times: int, chance: Random) -> None:
    for _ in range(times):
        await bots.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
        await bots.kill(victim)


async def test_races_go_on_after_kills() -> None:
    chance = Random(1)
    async with racing_bots(("lady-palk",), pace=PACE) as bots:
        for victim in Victim:
            await kill_in_mid_race(bots, victim, 2, chance)
        races, moves = await bots.audited()
    assert races
    assert moves


async def test_races_go_on_after_kills_on_an_external_store(mortal_store: StoreServer) -> None:
    chance = Random(mortal_store.binary)
    async with racing_bots(("lady-palk",), PACE, mortal_store) as bots:
        for victim in Victim:
            await kill_in_mid_race(bots, victim, 1, chance)
        await bots.mid_race()
        await bots.lose_store()
        races, moves = await bots.audited()
    assert races
    assert moves


KILLS = 50


@pytest.mark.long
@pytest.mark.parametrize("victim", Victim)
async def test_races_go_on_after_many_kills(victim: Victim) -> None:
    games = ("lady-palk", "canfield-aisleriot", "canfield")
    async with racing_bots(games, pace=20) as bots:
        await kill_in_mid_race(bots, victim, KILLS, Random(f"long {victim.value}"))
        races, moves = await bots.audited()
    note(
        f"{victim.value}: {bots.figures()}; {races} races, {moves} acknowledged moves, "
        "0 lost, 0 played twice"
    )


@pytest.mark.long
async def test_races_go_on_after_many_kills_of_an_external_store(
    mortal_store: StoreServer,
) -> None:
    chance = Random(f"long {mortal_store.binary}")
    async with racing_bots(("lady-palk", "canfield"), 20, mortal_store) as bots:
        for victim in (Victim.STORE, Victim.BOTH):
            await kill_in_mid_race(bots, victim, KILLS // 2, chance)
        races, moves = await bots.audited()
    note(
        f"{mortal_store.binary.rpartition('/')[2]}: {bots.figures()}; {races} races, {moves} "
        "acknowledged moves, 0 lost, 0 played twice"
    )


def is_called(bots: RacingBots) -> bool:
    """Return whether a call goes on."""
    return bots.players[0].notes.phase == "call"


async def test_a_race_without_a_player_who_was_away_in_the_call_is_complete() -> None:
    flags = flags_for(None, ("--rate", "0", "--log-level", "warning"))
    async with running_server(*flags) as server:
        ports = [server.port]
        link = FaultyLink(to_ports(ports))
        addresses = [server.url] * (len(LINE_UP) - 1)
        async with (
            listening(link),
            racing_bots_at([*addresses, link.url], ("lady-palk",), PACE, server, None) as bots,
        ):
            *racers, absent = bots.players
            await bots.until(lambda: is_called(bots))
            ports.clear()
            link.cut()
            await bots.until(lambda: all(player.notes.is_racing for player in racers))
            board = racers[0].notes.board
            assert board is not None
            ports.append(server.port)
            await bots.finish()
            assert all(player.notes.of_race(board.race) for player in racers)
            assert not absent.notes.of_race(board.race)
            races, moves = await bots.audit()
            assert races
            assert moves


NODES = 3


Disturbance = Callable[[], Awaitable[None]]


@asynccontextmanager
async def racing_at_nodes(
    store: StoreServer, games: tuple[str, ...], pace: float
) -> AsyncIterator[tuple[RacingBots, list[ServerProcess], list[FaultyLink]]]:
    """Seat four bots at each table, at three nodes, each with its own link to the store."""
    async with AsyncExitStack() as stack:
        links = [
            await stack.enter_async_context(
                link_to_store(store.socket, store.folder / f"link-{place}")
            )
            for place in range(NODES)
        ]
        urls = [link.url for link in links]
        flags = ("--log-level", "warning")
        nodes = await stack.enter_async_context(nodes_on(urls, NODES, *flags, module=QUICK))
        doors = [node.url for node in nodes]
        racing_bots = await stack.enter_async_context(
            racing_bots_at(doors, games, pace, nodes[0], store)
        )
        yield racing_bots, nodes, links


async def close_event_connections(store: StoreServer) -> None:
    """Let the store close all subscribed connections."""
    await asyncio.to_thread(store.ask, "CLIENT", "KILL", "TYPE", "PUBSUB")


async def restart_node(node: ServerProcess) -> None:
    await node.kill()
    await node.start()


async def drop_store_connections(link: FaultyLink) -> None:
    link.go_half_open()


async def hang(store: StoreServer) -> None:
    """Hang the store for longer than a node waits for the probe of its subscription."""
    store.pause()
    await asyncio.sleep(3)
    store.resume()


async def under_fault(
    bots: RacingBots, disturbances: list[Disturbance], chance: Random
) -> tuple[int, int]:
    """Inject each fault in mid-race, and audit every race; return the numbers of races and of moves."""
    for fault in disturbances:
        await bots.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
        await fault()
    audited = await bots.audited()
    for player in bots.players:
        twice = [race for race in player.notes.announced if player.notes.announced.count(race) > 1]
        assert twice == [], "the end of a race was announced twice"
    return audited


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_races_over_several_nodes_go_on_after_faults_between_them(
    mortal_store: StoreServer,
) -> None:
    chance = Random(mortal_store.binary)
    async with racing_at_nodes(mortal_store, ("lady-palk",), pace=120) as (bots, nodes, links):
        disturbances: list[Disturbance] = [
            partial(close_event_connections, mortal_store),
            partial(restart_node, nodes[1]),
            partial(close_event_connections, mortal_store),
            partial(drop_store_connections, links[2]),
            partial(restart_node, nodes[0]),
        ]
        races, moves = await under_fault(bots, disturbances, chance)
    assert races
    assert moves


@pytest.mark.long
async def test_races_over_several_nodes_go_on_after_many_faults(mortal_store: StoreServer) -> None:
    chance = Random(f"long {mortal_store.binary}")
    async with racing_at_nodes(mortal_store, ("lady-palk", "canfield"), pace=20) as (
        bots,
        nodes,
        links,
    ):
        kinds: list[Disturbance] = [
            *(partial(restart_node, node) for node in nodes),
            *(partial(drop_store_connections, link) for link in links),
            *[partial(close_event_connections, mortal_store)] * NODES,
            partial(hang, mortal_store),
        ]
        disturbances = [chance.choice(kinds) for _ in range(60)]
        races, moves = await under_fault(bots, disturbances, chance)
    note(
        f"several nodes: {len(disturbances)} disturbances, {races} races, {moves} acknowledged moves, 0 lost"
    )


SETTLING_PACE = 200.0
"""Moves a second of each player, so fast that races end every few seconds."""

SETTLING_GAMES = ("klondike", "canfield-aisleriot")
"""The games of the tables: both of short races."""

SETTLEMENT_KILLS = 100

STRIKES_WITHIN = 60.0
"""Longest time in seconds until a race ends; a bound that no test should reach."""


class Step(Enum):
    """The steps of a settlement, by what their requests to the store contain."""

    FINISH = b"saratoga record "


@dataclass
class Strike:
    """A fault of the link: let one step of a settlement pass, or only its request, and drop the rest."""

    link: FaultyLink | None = None
    step: Step | None = None
    """The step to wait for; `None` if the link forwards everything."""
    is_done: bool = False
    """Whether the store carries out the step before the kill."""
    has_struck: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, link: FaultyLink, connection: LinkConnection) -> None:
        """Set the transforms of a new connection."""
        self.link = link
        is_awaited = False

        def to_server(data: bytes) -> bytes:
            nonlocal is_awaited
            if self.step is None or self.step.value not in data:
                return data
            is_awaited = self.is_done
            return data if is_awaited else self._strike()

        def to_client(data: bytes) -> bytes:
            return self._strike() if is_awaited and self.step is not None else data

        connection.to_server, connection.to_client = to_server, to_client

    def _strike(self) -> bytes:
        assert self.link is not None
        self.step = None
        self.link.go_half_open()
        self.has_struck.set()
        return b""

    async def kill(self, bots: RacingBots, victim: Victim) -> None:
        """Kill when the link has struck."""
        async with asyncio.timeout(STRIKES_WITHIN):
            await self.has_struck.wait()
        assert self.link is not None
        cutting = asyncio.get_running_loop().call_later(0.05, self.link.cut_half_open)
        try:
            await bots.kill(victim)
        finally:
            cutting.cancel()
        self.link.cut_half_open()


KINDS = tuple(product(Step, (False, True), Victim))
"""Every step, before and after the store has carried it out, and every victim."""


@asynccontextmanager
async def racing_over_a_link(
    store: StoreServer, folder: Path
) -> AsyncIterator[tuple[RacingBots, Strike]]:
    strike = Strike()
    async with (
        link_to_store(store.socket, folder / "link", strike) as link,
        running_server(
            *flags_for(link.url, ("--rate", "0", "--log-level", "warning")),
            module=QUICK,
        ) as server,
        racing_bots_at(server.url, SETTLING_GAMES, SETTLING_PACE, server, store) as bots,
    ):
        yield bots, strike


async def kill_at_settlements(
    store: StoreServer, folder: Path, kinds: list[tuple[Step, bool, Victim]]
) -> str:
    """Kill at one settlement after another; return the figures after the audit."""
    async with racing_over_a_link(store, folder) as (bots, strike):
        for step, is_done, victim in kinds:
            strike.has_struck.clear()
            strike.step, strike.is_done = step, is_done
            await strike.kill(bots, victim)
        races, moves = await bots.audited()
    return (
        f"{len(kinds)} kills at settlements: {bots.figures()}; {races} races, every result once; "
        f"{moves} acknowledged moves, 0 lost, 0 played twice"
    )


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_results_count_once_after_kills_at_the_settlement(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    kinds = [(Step.FINISH, True, Victim.SERVER), (Step.FINISH, False, Victim.BOTH)]
    await kill_at_settlements(mortal_store, tmp_path, kinds)


@pytest.mark.long
async def test_results_count_once_after_many_kills_at_the_settlement(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    kinds = list(islice(cycle(KINDS), SETTLEMENT_KILLS))
    Random(f"settlements {mortal_store.binary}").shuffle(kinds)
    note(await kill_at_settlements(mortal_store, tmp_path, kinds))
