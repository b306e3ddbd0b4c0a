"""`kill -9` and lost connections in mid-race: no acknowledged move is lost or doubled, and every player comes back.

Each bot records the moves that are acknowledged to it. After the races, every record and every stored log
must contain them. (An external store and several nodes are killed in storms: `test_storms`.) At a settlement,
the link between server and store drops everything after one of its steps, so every result counts exactly once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path
from random import Random

import pytest

from kit.altered_server import QUICK
from kit.faulty_link import FaultyLink, LinkConnection, link_to_store, listening, to_ports
from kit.programs import note
from kit.racing_bots import RacingBots, Victim, racing_bots, racing_bots_at
from kit.recorded_players import LINE_UP
from kit.server_process import flags_for, running_server
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


SETTLING_PACE = 200.0
"""Moves a second of each player, so fast that races end every few seconds."""

SETTLING_GAMES = ("klondike", "canfield-aisleriot")
"""The games of the tables: both of short races."""

SETTLEMENT_KILLS = 100

STRIKES_WITHIN = 60.0
"""Longest time in seconds until a race ends; a bound that no test should reach."""


FINISH = b"saratoga record "
"""What the request to the store that ends a race contains."""


@dataclass
class Strike:
    """A fault of the link: let a settlement's request pass or not, and drop the rest."""

    link: FaultyLink | None = None
    is_awaited: bool = False
    """Whether the link drops everything from the next settlement on."""
    is_done: bool = False
    """Whether the store carries out the settlement before the kill."""
    has_struck: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, link: FaultyLink, connection: LinkConnection) -> None:
        """Set the transforms of a new connection."""
        self.link = link
        has_passed = False

        def to_server(data: bytes) -> bytes:
            nonlocal has_passed
            if not self.is_awaited or FINISH not in data:
                return data
            has_passed = self.is_done
            return data if has_passed else self._strike()

        def to_client(data: bytes) -> bytes:
            return self._strike() if has_passed and self.is_awaited else data

        connection.to_server, connection.to_client = to_server, to_client

    def _strike(self) -> bytes:
        assert self.link is not None
        self.is_awaited = False
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


KINDS = tuple(product((False, True), Victim))
"""Before and after the store has carried the settlement out, and every victim."""


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
    store: StoreServer, folder: Path, kinds: list[tuple[bool, Victim]]
) -> str:
    """Kill at one settlement after another; return the figures after the audit."""
    async with racing_over_a_link(store, folder) as (bots, strike):
        for is_done, victim in kinds:
            strike.has_struck.clear()
            strike.is_awaited, strike.is_done = True, is_done
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
    kinds = [(True, Victim.SERVER), (False, Victim.BOTH)]
    await kill_at_settlements(mortal_store, tmp_path, kinds)


@pytest.mark.long
async def test_results_count_once_after_many_kills_at_the_settlement(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    kinds = list(islice(cycle(KINDS), SETTLEMENT_KILLS))
    Random(f"settlements {mortal_store.binary}").shuffle(kinds)
    note(await kill_at_settlements(mortal_store, tmp_path, kinds))
