"""Load a server for 60 % of the time over many minutes, to find out whether it grows or slows down.

A server is one process with one event loop, so one core limits it. Tables play race after race at a
human pace, and players come and go. At the start, tables are opened until the server's process is
busy for 60 % of the time.

    python tests/benchmarks/soak.py [--minutes 20] [--game canfield]
"""

import argparse
import asyncio
import math
import statistics
import sys
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measuring import millis, processor_seconds, resident_kib, stolen_seconds
from benchmarks.programs import OPTIONS
from benchmarks.racers import ANSWERED_WITHIN, GAME, LeanRacer, seated
from kit.server_process import running_server
from saratoga_protocol.commands import LeaveTable

SHARE = 0.6
"""Share of the time for which the server's process is to be busy."""

PACE = 4.0
"""Moves a second of each player, as a quick person makes them."""

MOVES = (120, 260)
"""The fewest and the most moves after which a racer cashes out."""

AWAY = (0.5, 5.0)
"""The shortest and the longest time in seconds between two races of the same seat."""

SAMPLE_EVERY = 5.0
"""Seconds between two samples of the server."""

FIRST_TABLES = 16

FILLED_WITHIN = 180.0
"""Longest time in seconds in which tables are opened; a quarter of a shorter run."""

FELT_AFTER = 3
"""The number of samples until new tables affect the load, because they gather and count down first."""

SETTLED_AFTER = 5.0
"""Minutes before memory is fitted to a line; a quarter of a shorter run."""

UNDISTURBED = 0.02
"""Share of a core that the hypervisor may take in a run whose latencies are judged."""

MOST_GROWTH = 1.0
"""Largest growth of memory, in MiB in ten minutes."""

MOST_SLOWER = 1.2
"""Largest p99 latency of the last third divided by that of the first."""


class Look(NamedTuple):
    """A sample of the server and the machine; times are totals since their start."""

    at: float
    """The time by `time.perf_counter()`."""
    resident: float
    """Resident memory of the server in MiB."""
    processor: float
    """Seconds of CPU time that the server has used."""
    stolen: float
    """Seconds of core time that the hypervisor has taken."""


class Soak:
    """Tables that race again and again at one server, and samples of it."""

    def __init__(self, port: int, server: int, game: str) -> None:
        self.port, self.server, self.game = port, server, game
        self.looks: list[Look] = []
        self.waits: list[list[float]] = []
        """Seconds from each move to its acknowledgement, for the time after each sample."""
        self.races = 0
        self.tables: list[asyncio.Task[None]] = []

    def look(self) -> float:
        """Take a sample; return the seconds since the first one."""
        resident, ran = resident_kib(self.server) / 1024, processor_seconds([self.server])
        self.looks.append(Look(time.perf_counter(), resident, ran, stolen_seconds()))
        self.waits.append([])
        return self.looks[-1].at - self.looks[0].at

    def busy(self, looks: int) -> float:
        """Return the share of the time for which the server was busy over the newest samples."""
        last, first = self.looks[-1], self.looks[-1 - min(looks, len(self.looks) - 1)]
        return (last.processor - first.processor) / (last.at - first.at)

    def growth(self, after: float) -> float:
        """Return the growth in MiB in ten minutes, by least squares over the samples after so many seconds."""
        late = [look for look in self.looks if look.at - self.looks[0].at > after]
        if len(late) < 3:
            return math.nan
        fit = statistics.linear_regression(
            [look.at for look in late], [look.resident for look in late]
        )
        return fit.slope * 600

    async def run(self, seconds: float) -> None:
        """Open tables until the server is as busy as it should be; raise an error of a racer."""
        self.look()
        await self._open(FIRST_TABLES)
        while (at := self.look()) < seconds and not any(task.done() for task in self.tables):
            is_filling = at < min(FILLED_WITHIN, seconds / 4)
            if is_filling and len(self.looks) % FELT_AFTER == 0:
                share = self.busy(FELT_AFTER - 1)
                # open half of the estimated number, because the cost of a table is not known yet
                missing = round(len(self.tables) * (SHARE / share - 1) / 2)
                if missing > 0:
                    await self._open(min(missing, len(self.tables)))
                    continue
            await asyncio.sleep(SAMPLE_EVERY)
        ended = [task for task in self.tables if task.done()]
        for task in self.tables:
            task.cancel()
        await asyncio.gather(*self.tables, return_exceptions=True)
        for task in ended:
            task.result()

    async def _open(self, more: int) -> None:
        # one after another, so that their races do not all end at once
        for _ in range(more):
            self.tables.append(asyncio.create_task(self._race_repeatedly(len(self.tables))))
            await asyncio.sleep(SAMPLE_EVERY / more)

    async def _race_repeatedly(self, seed: int) -> None:
        """Let four new racers race at a new table, again and again."""
        chance = Random(seed)
        while True:
            racers = await seated(self.port, self.game)
            try:
                await asyncio.gather(*(self._race(racer, chance) for racer in racers))
                self.races += 1
                for racer in racers:
                    assert racer.table is not None
                    await racer.ask(LeaveTable, table=racer.table.code)
            finally:
                for racer in racers:
                    racer.disconnect()
            await asyncio.sleep(chance.uniform(*AWAY))

    async def _race(self, racer: LeanRacer, chance: Random) -> None:
        """Let a racer move at a person's pace until its board ends; raise an error of the racer."""
        answers: asyncio.Queue[Exception | bool] = asyncio.Queue()
        racer.on_moved = lambda size: answers.put_nowait(True)
        racer.on_over = lambda: answers.put_nowait(False)
        racer.on_fault = answers.put_nowait
        await asyncio.wait_for(racer.dealt, ANSWERED_WITHIN)
        left = chance.randint(*MOVES)
        while racer.board is not None and racer.board.state == "racing":
            await asyncio.sleep((0.5 + chance.random()) / PACE)
            began = time.perf_counter()
            if left and racer.board.legal:
                racer.move()
            else:
                racer.cash_out()
            left -= 1
            answer = await answers.get()
            if isinstance(answer, Exception):
                raise answer
            if not answer:
                return
            self.waits[-1].append(time.perf_counter() - began)

    def report(self, seconds: float) -> tuple[str, bool]:
        """Return the figures, and whether they keep the promised limits.

        Latencies are judged only if the host took hardly any time, because the server cannot use
        time that it takes.
        """
        settled = min(SETTLED_AFTER * 60, seconds / 4)
        third = max(1, len(self.waits) // 3)
        thirds = self.waits[:third], self.waits[third:-third], self.waits[-third:]
        p99s = [millis([wait for waits in some for wait in waits], 0.99) for some in thirds]
        slower, growth = p99s[-1] / p99s[0], self.growth(settled)
        resident = [look.resident for look in self.looks]
        stolen = (self.looks[-1].stolen - self.looks[0].stolen) / seconds
        is_kept = growth < MOST_GROWTH and (slower <= MOST_SLOWER or stolen > UNDISTURBED)
        moves = sum(map(len, self.waits))
        lines = [
            f"{self.game}, {len(self.tables)} tables, {seconds / 60:.0f} minutes",
            f"the server busy for {self.busy(len(self.looks)):.0%} of the time; "
            f"{moves} moves, {moves / seconds:.0f} a second, {self.races} races",
            f"resident: {resident[0]:.1f} MiB at first, {resident[-1]:.1f} at last, most "
            f"{max(resident):.1f}; after minute {settled / 60:.1f} {growth:+.2f} MiB in ten "
            f"minutes (bar: below {MOST_GROWTH:g})",
            f"p99 latency of each third: {', '.join(f'{each:.1f}' for each in p99s)} ms, last to "
            f"first {slower:.2f} (bar: at most {MOST_SLOWER:g}, if the hypervisor takes at most "
            f"{UNDISTURBED:.0%} of a core away; it took {stolen:.1%})",
            "kept" if is_kept else "NOT KEPT",
        ]
        return "\n".join(lines) + "\n", is_kept


async def main(minutes: float, game: str) -> bool:
    async with running_server(*OPTIONS) as server:
        soak = Soak(server.port, server.pid, game)
        await soak.run(minutes * 60)
    text, is_kept = soak.report(minutes * 60)
    print(text)
    return is_kept


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--game", default=GAME)
    options = arguments.parse_args()
    sys.exit(0 if uvloop.run(main(options.minutes, options.game)) else 1)
