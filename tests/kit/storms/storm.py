"""Run a storm: start an installation, inject faults in an order that a seed determines, audit the races, look for leaks."""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random, SystemRandom

from kit.auditor import Auditor
from kit.racing_bots import NeverHappened, RecordedPlayer
from kit.storms.faults import NODE_KILLED, PARTS
from kit.storms.installation import Installation, leaks_of, open_installation
from saratoga_client.net.connection import Timing
from saratoga_rules.games import GAMES
from saratoga_server.store.opening import open_store

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

PACE = 6.0
"""Moves a second of each player."""

AUDITED_WITHIN = 600.0
"""Longest time in seconds for the audit of all races."""

FAULTS_A_RACE = 50
"""The number of faults for each race that every table must finish."""

TIMING = Timing(silence=4.0, heartbeat_every=4 / 3)
"""Players reconnect after four seconds without an event: sooner than usual."""


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
    """Inject these faults, hold and heal them, and wait until all players are back; say if they were late."""
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
    async with open_installation(storm.games, nodes=3, pace=PACE, timing=TIMING) as installation:
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
    arguments = argparse.ArgumentParser(
        prog="python -m kit.storms.storm", description="Run a long storm."
    )
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
