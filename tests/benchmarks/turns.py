"""Two contestants in turns, half a second each: whatever mood the machine is in, both have it.

The price of the same code changes by half from one minute to the next on a shared machine, and not
alike for every program; so whoever is measured first and whoever is measured a minute later have
nothing to do with one another.
"""

import gc
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.closed_loop import ClosedLoop, EchoLoop
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.measuring import Load, measured, together
from benchmarks.supply import SUPPLY
from kit.lean_racers import plausible, racing_tables

SETTLE = 0.15
"""Seconds at the start of a turn that do not count: the other's last answers still come in."""

TURN = 0.45
"""Seconds that do."""


TURNS = 4
"""Of each in a round; fewer if the tables run out."""


@dataclass
class Turns:
    """What two contestants cost, turn by turn."""

    ones: list[Load] = field(default_factory=list)
    others: list[Load] = field(default_factory=list)
    planned: int = 0
    """Turns of each."""

    @property
    def ratio(self) -> float:
        """The one's cost of a message in the other's, over all turns."""
        return together(self.ones).micros / together(self.others).micros

    @property
    def ratios(self) -> list[float]:
        """That of each pair of turns, the smallest first."""
        return sorted(
            one.micros / other.micros for one, other in zip(self.ones, self.others, strict=True)
        )

    def told(self, one: str, other: str) -> str:
        """In a sentence; raises `RuntimeError` if fewer than half of the turns count.

        For tables may run out, and the machine's host may take its cores away.
        """
        if len(self.ones) < self.planned / 2:
            raise RuntimeError(f"only {len(self.ones)} of {self.planned} turns count")
        ratios = self.ratios
        return (
            f"{one} {together(self.ones).micros:.1f} us, {other} {together(self.others).micros:.1f} us: "
            f"**{self.ratio:.2f} x** over {len(ratios)} of {self.planned} turns of {TURN:g} s each; pair by pair {ratios[0]:.2f} "
            f"to {ratios[-1]:.2f}, median {statistics.median(ratios):.2f}"
        )


class Contestant(NamedTuple):
    """One that is up, and does nothing but in its turns."""

    loop: ClosedLoop | EchoLoop
    running: Running

    async def turn(self) -> Load | None:
        """What it did in its turn; `None` if it has run out of tables."""
        gc.collect()
        self.loop.resume()
        await self.loop.wait(SETTLE)
        load = self.loop.load = Load()
        if not self.loop.has_run_out:
            with measured(load, self.running.servers, self.running.stores):
                await self.loop.wait(TURN)
        # what is answered from now on was not measured
        self.loop.load = Load()
        self.loop.pause()
        return None if self.loop.has_run_out else load


async def house_and_echo(tables: int, rounds: int, game: str) -> Turns:
    """The house, and an echo with as many connections and messages of the same sizes."""
    seen = Turns(planned=rounds * TURNS)
    for _ in range(rounds):
        async with _house(tables, game) as house:
            like = await house.turn()
            if like is None or not like.messages:
                continue
            async with _echo(like, tables * 4) as echo:
                await _take_turns(seen, house, echo)
    return seen


async def _take_turns(seen: Turns, one: Contestant, other: Contestant) -> None:
    for number in range(TURNS):
        if number % 2:
            second, first = await other.turn(), await one.turn()
        else:
            first, second = await one.turn(), await other.turn()
        if first is None or second is None:
            break
        if first.is_undisturbed and second.is_undisturbed:
            seen.ones.append(first)
            seen.others.append(second)


@asynccontextmanager
async def _house(tables: int, game: str) -> AsyncIterator[Contestant]:
    """Only as many tables wait for their turn to race as it takes: they cost the house something too."""
    seats = tables + SUPPLY.waiting(tables, (TURNS + 1) * (SETTLE + TURN))
    with house_server() as running:
        everyone = await racing_tables(seats, running.same, game, plausible)
        loop = ClosedLoop([*everyone])
        loop.pause()
        loop.start(tables)
        yield Contestant(loop, running)
        if loop.has_run_out:
            SUPPLY.was_short(tables)
        loop.stop()
        for racers in everyone:
            for racer in racers:
                racer.go()


@asynccontextmanager
async def _echo(like: Load, connections: int) -> AsyncIterator[Contestant]:
    with echo_server() as running:
        loop = await EchoLoop.of(running, like, connections)
        yield Contestant(loop, running)
        loop.close()
