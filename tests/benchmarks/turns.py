"""Measure programs in turns of half a second, so that changes of the machine affect all of them alike.

On a shared machine the cost of the same code can change by half from one minute to the next, and not
alike for every program. So figures can be compared only if they were measured at nearly the same time.
"""

import gc
import math
import statistics
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from benchmarks.closed_loop import ClosedLoop, EchoLoop, command_payload, echo_payload
from benchmarks.contestants import Running, echo_server, game_server
from benchmarks.lean_racers import plausible, racing_tables
from benchmarks.machine import Others
from benchmarks.measuring import Load, NotQuiet, measured, together
from benchmarks.reports import Cell, Report
from benchmarks.supply import SUPPLY

SETTLE: Final = 0.15
"""Seconds at the start of a turn that do not count, while the last responses of other programs arrive."""

TURN: Final = 0.45
"""Seconds of a turn that count."""

TURNS: Final = 4
"""Turns of each program in a round; fewer if the tables run out."""

SAFE, BARE = "`safe`", "bare echo"
COMMANDS, BYTES = "our transport, answering commands", "our transport, echoing bytes"


class Contestant(NamedTuple):
    """A running program and its load, which is paused except in its turns."""

    loop: ClosedLoop | EchoLoop
    running: Running

    async def turn(self) -> Load:
        """Measure one turn; raise `NotQuiet` if the tables have run out."""
        gc.collect()
        self.loop.resume()
        await self.loop.wait(SETTLE)
        load = self.loop.load = Load()
        try:
            if not self.loop.has_run_out:
                with measured(load, self.running.servers, self.running.stores):
                    await self.loop.wait(TURN)
        finally:
            # responses from now on do not count
            self.loop.load = Load()
            self.loop.pause()
        if self.loop.has_run_out:
            raise NotQuiet("the waiting tables ran out")
        return load


@dataclass
class Turns:
    """The cost of each program, turn by turn."""

    planned: int
    """The planned number of turns of each program."""
    taken: list[dict[str, Load]] = field(default_factory=list)
    """The load of every program, for each turn."""

    @property
    def quiet(self) -> list[dict[str, Load]]:
        """The turns in which the hypervisor stole no time from any program."""
        return [turn for turn in self.taken if all(load.is_undisturbed for load in turn.values())]

    @property
    def is_quiet(self) -> bool:
        """True if at least half of the planned turns were quiet."""
        return len(self.quiet) >= self.planned / 2

    @property
    def counted(self) -> list[dict[str, Load]]:
        """The quiet turns, or all turns if too few were quiet."""
        return self.quiet if self.is_quiet else self.taken

    def ratio(self, one: str, other: str) -> float:
        """Return the cost per message of one program divided by another's, over all counted turns."""
        if not self.counted:
            return math.nan
        ours, theirs = (together([turn[name] for turn in self.counted]) for name in (one, other))
        return ours.micros / theirs.micros

    def tell(self, report: Report, measure: str) -> None:
        """Add a table with the costs, also as multiples of those of the program `measure`."""
        rows: list[list[Cell]] = []
        for name in self.counted[0] if self.counted else ():
            ratios = sorted(turn[name].micros / turn[measure].micros for turn in self.counted)
            micros = together([turn[name] for turn in self.counted]).micros
            spread = (ratios[0], statistics.median(ratios), ratios[-1])
            rows.append([name, micros, self.ratio(name, measure), *spread])
        report.table(
            ("in turns", "server CPU us", f"x {measure}", "lowest turn", "median", "highest"), rows
        )
        said = f"{len(self.counted)} of {self.planned} turns of {TURN:g} s each are counted."
        if not self.is_quiet:
            said = f"**Not measured quietly**: {len(self.quiet)} turns were undisturbed. {said}"
        report.say(said)


async def server_and_echoes(tables: int, rounds: int, game: str) -> Turns:
    """Measure the server, and echoes with as many connections and messages of the same sizes."""
    seen = Turns(planned=rounds * TURNS)
    for number in range(rounds):
        others = Others()
        try:
            await _round(seen, tables, game)
        except Exception as fault:
            if others.are_quiet and not isinstance(fault, NotQuiet):
                raise
            print(f"... round {number + 1} ended early: {fault}", file=sys.stderr, flush=True)
    return seen


async def _round(seen: Turns, tables: int, game: str) -> None:
    async with _server(tables, game) as server:
        like = await server.turn()
        plain, command = echo_payload(like), command_payload(like)
        async with (
            _echo(("echo_server.py",), plain, tables * 4) as bare,
            _echo(("transport_echo.py", "bytes"), plain, tables * 4) as echoing,
            _echo(("transport_echo.py", "commands"), command, tables * 4) as answering,
        ):
            contestants = {BARE: bare, BYTES: echoing, COMMANDS: answering, SAFE: server}
            for number in range(TURNS):
                seen.taken.append(await _turn(contestants, is_reversed=bool(number % 2)))


async def _turn(contestants: Mapping[str, Contestant], *, is_reversed: bool) -> dict[str, Load]:
    order = [*contestants]
    if is_reversed:
        order.reverse()
    loads = {name: await contestants[name].turn() for name in order}
    return {name: loads[name] for name in contestants}


@asynccontextmanager
async def _server(tables: int, game: str) -> AsyncIterator[Contestant]:
    """Run the server with as few waiting tables as possible, because they cost something too."""
    turns = TURNS + 1
    seats = tables + SUPPLY.waiting(tables, turns * (SETTLE + TURN))
    with game_server() as running:
        everyone = await racing_tables(seats, running.same, game, plausible)
        loop = ClosedLoop([*everyone])
        loop.pause()
        loop.start(tables)
        try:
            yield Contestant(loop, running)
        finally:
            if loop.has_run_out:
                SUPPLY.was_short(tables)
            loop.stop()
            for racers in everyone:
                for racer in racers:
                    racer.disconnect()


@asynccontextmanager
async def _echo(
    program: Sequence[str], payload: bytes, connections: int
) -> AsyncIterator[Contestant]:
    with echo_server(*program) as running:
        loop = await EchoLoop.of(running, payload, connections)
        try:
            yield Contestant(loop, running)
        finally:
            loop.close()
