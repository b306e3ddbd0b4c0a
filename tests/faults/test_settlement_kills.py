"""`kill -9` between the end of a race and its leaderboard rows: every result counts exactly once.

The server uses its store through a link. When one of the three steps of a settlement passes, the link drops
all further data, and the server, the store, or both are killed.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import cycle, islice, product
from pathlib import Path
from random import Random

import pytest

from kit.altered_server import QUICK
from kit.faulty_link import FaultyLink, LinkConnection, link_to_store
from kit.programs import note
from kit.racing_bots import RacingBots, Victim, racing_bots_at, store_of
from kit.server_process import flags_for, running_server
from kit.stores import StoreServer

PACE = 200.0
"""Moves a second of each player, so fast that races end every few seconds."""

GAMES = ("klondike", "canfield-aisleriot")
"""The games of the tables: both of short races."""

KILLS = 100

STRIKES_WITHIN = 60.0
"""Longest time in seconds until a race ends; a bound that no test should reach."""


class Step(Enum):
    """The steps of a settlement, by what their requests to the store contain."""

    FINISH = b"saratoga record "
    SETTLE = b"settle_"
    DROP = b"LREM"


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
        racing_bots_at(server.url, GAMES, PACE, server, store) as bots,
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
        await bots.finish()
        async with store_of(bots) as opened:
            races, moves = await bots.audit(opened)
    return (
        f"{len(kinds)} kills at settlements: {bots.figures()}; {races} races, every result once; "
        f"{moves} acknowledged moves, 0 lost, 0 played twice"
    )


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_results_count_once_after_kills_at_the_settlement(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    kinds = [(Step.FINISH, True, Victim.SERVER), (Step.SETTLE, True, Victim.BOTH)]
    await kill_at_settlements(mortal_store, tmp_path, kinds)


@pytest.mark.long
async def test_results_count_once_after_many_kills_at_the_settlement(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    kinds = list(islice(cycle(KINDS), KILLS))
    Random(f"settlements {mortal_store.binary}").shuffle(kinds)
    note(await kill_at_settlements(mortal_store, tmp_path, kinds))
