"""Run a storm: start an installation, inject faults in an order that a seed determines, audit the races, look for leaks."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from kit.auditor import Auditor
from kit.racing_bots import NeverHappened
from kit.server_process import ServerProcess
from kit.storms.faults import ActiveFault, Fault
from kit.storms.installation import Installation, StormPlayer, open_installation
from kit.storms.leaks import leaks_of
from saratoga_client.net.connection import Timing
from saratoga_rules.games import GAMES
from saratoga_server.store.opening import open_store

LONGEST_PAUSE = 0.3
"""Longest pause in seconds between all players' recovery and the next fault."""

BACK_WITHIN = 10.0
"""Longest time in seconds after healing any fault for all players to be back."""

INJECTED_WITHIN = 90.0
"""Seconds for a fault to be injected or healed: a bound that no storm should reach."""


@dataclass
class Storm:
    """A series of faults; `seed` determines their order and what each affects."""

    installation: Installation
    kinds: Sequence[Fault]
    seed: str
    injected: Counter[str] = field(default_factory=Counter)
    """The number of injections of each kind: fewer than planned if the storm stopped early."""
    unfelt: Counter[str] = field(default_factory=Counter)
    """The number of injections of each kind that affected no player."""
    late: list[str] = field(default_factory=list)
    """Faults after which a player was back later than promised."""

    def schedule(self, faults: int, together: int) -> list[tuple[Fault, ...]]:
        """Plan `faults` faults in random order, each kind equally often.

        Every `together`th entry has two faults that affect different parts; with 0, no entry has two.
        """
        random = Random(f"schedule {self.seed}")
        left: list[Fault] = []
        planned: list[tuple[Fault, ...]] = []
        while sum(map(len, planned)) < faults:
            if not left:
                left = list(self.kinds)
                random.shuffle(left)
            first = left.pop()
            others = [kind for kind in left if kind.part != first.part]
            if together and others and len(planned) % together == together - 1:
                left.remove(others[0])
                pair = sorted((first, others[0]), key=lambda fault: not fault.needs_play)
                planned.append(tuple(pair))
            else:
                planned.append((first,))
        return planned

    async def inject(self, faults: tuple[Fault, ...], number: int) -> None:
        """Inject these faults, hold and heal them, and wait until all players are back."""
        random = Random(f"{self.seed} {number}")
        await self.installation.mid_race()
        await asyncio.sleep(random.uniform(0, LONGEST_PAUSE))
        racing = self.installation.racers()
        since = time.monotonic()
        active: list[tuple[Fault, ActiveFault]] = []
        for fault in faults:
            began = time.monotonic()
            async with asyncio.timeout(INJECTED_WITHIN):
                active.append((fault, await fault.inject(self.installation, random)))
            self.injected[fault.name] += 1
            if not fault.by_reconnect:
                since = time.monotonic()
            elif len(faults) == 1:
                since = began
            await asyncio.sleep(random.uniform(*fault.hold))
        # Heal both at once: a node does not start while its store is down.
        async with asyncio.timeout(INJECTED_WITHIN):
            await asyncio.gather(*(each.heal() for _, each in active))
        healed = time.monotonic()
        if any(fault.from_heal for fault in faults):
            since = healed
        await self._await_recovery(faults, active, since, healed, racing)

    async def _await_recovery(
        self,
        faults: tuple[Fault, ...],
        active: list[tuple[Fault, ActiveFault]],
        since: float,
        healed: float,
        racing: list[StormPlayer],
    ) -> None:
        affected = {id(player): player for _, each in active for player in each.affected}
        names = " and ".join(fault.name for fault in faults)
        by_reconnect = len(faults) == 1 and faults[0].by_reconnect
        back = await self.installation.all_back(
            affected.values(), since, names, by_reconnect=by_reconnect
        )
        waits = [moment - since for player, moment in back if player in racing]
        slowest = max((moment - healed for _, moment in back), default=0.0)
        if slowest > BACK_WITHIN:
            self._late(names, slowest, healed - since, back)
        for fault, each in active:
            self.unfelt[fault.name] += not list(each.affected)
            longest = max(waits, default=0.0)
            if len(faults) == 1 and fault.limit is not None and longest > fault.limit:
                self._late(names, longest, healed - since, back)

    def without_effect(self) -> list[str]:
        """Name the kinds of fault that never affected a player."""
        return [
            f"{name}: injected {count} times without affecting a player"
            for name, count in sorted(self.injected.items())
            if self.unfelt[name] >= count
        ]

    def _late(
        self, names: str, longest: float, healed: float, back: list[tuple[StormPlayer, float]]
    ) -> None:
        times = ", ".join(f"{player.name} {moment:.2f}" for player, moment in back)
        self.late.append(
            f"{names}: {longest:.2f} s, healed after {healed:.2f} s; back at {times}\n"
            f"{self.installation.describe()}"
        )


AUDIT_EVERY = 25
"""The number of injections between two audits of the finished races."""

HEARTBEATS = 3
"""The least number of heartbeats that a player sends before it counts a silent connection as lost."""

AUDITED_WITHIN = 180.0
"""Longest time in seconds for the final audit."""


def drawn_games(seed: str) -> tuple[str, ...]:
    """Return the games of a storm with two tables, so that storms with other seeds race other games."""
    return tuple(Random(seed).sample(list(GAMES), 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class StormPlan:
    """The parameters of a storm: the faults to inject, and the installation."""

    seed: str
    faults: int
    kinds: Sequence[Fault]
    games: Sequence[str]
    """The game of each table."""
    nodes: int = 3
    pace: float = 6.0
    """Moves a second that each player makes."""
    together: int = 6
    """The number of injections of which one has two faults at once; 0: none has."""
    silence: float = Timing().silence
    """Seconds without an event after which a player reconnects."""
    module: str = ServerProcess.module
    """The module that the nodes run."""
    races: int = 1
    """The least number of races that every table must finish and that are audited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StormResult:
    """The results of a storm: faults found, recovery times and counts."""

    storm: Storm
    auditor: Auditor
    refusals: dict[str, int]
    leaks: list[str]
    """Descriptions of resources that nodes and store still held after all players had left."""

    logged: list[str]
    """Errors that the nodes logged."""

    @property
    def faults(self) -> list[str]:
        """Descriptions of everything that went wrong, except players who were back late."""
        return [*self.auditor.faults, *self.leaks, *self.logged]

    @property
    def late(self) -> list[str]:
        """Descriptions of faults after which a player was back later than promised."""
        return self.storm.late

    @property
    def fewest(self) -> int:
        """The smallest number of audited finished races at any table."""
        tables = self.auditor.tables
        return min((self.auditor.races[table[0].notes.code] for table in tables), default=0)

    def figures(self) -> str:
        """Return what was audited, as a sentence."""
        auditor = self.auditor
        return (
            f"{self.storm.injected.total()} faults; {auditor.races.total()} finished races audited, "
            f"{auditor.rows} rows of leaderboards compared, {auditor.moves} moves acknowledged; "
            f"refusals {self.refusals}"
        )


async def run_storm(
    plan: StormPlan, report: Callable[[str], None] = lambda line: None
) -> StormResult:
    """Run a storm to its end and audit everything."""
    async with open_installation(
        plan.games,
        nodes=plan.nodes,
        pace=plan.pace,
        module=plan.module,
        timing=Timing(
            silence=plan.silence,
            heartbeat_every=min(Timing().heartbeat_every, plan.silence / HEARTBEATS),
        ),
    ) as installation:
        storm = Storm(installation, plan.kinds, plan.seed)
        async with open_store(installation.store_url) as store:
            auditor = Auditor(installation.tables, store)
            if await _inject_all(plan, storm, auditor, report):
                try:
                    await installation.finish(plan.races)
                except NeverHappened as error:
                    auditor.faults.append(f"after the storm: {error!r}\n{installation.describe()}")
            await installation.stop_racing()
            auditor.faults += installation.failures
            await asyncio.wait_for(auditor.audit_all(), AUDITED_WITHIN)
            auditor.faults += too_few(auditor, plan.races)
            auditor.faults += storm.without_effect()
        return StormResult(
            storm=storm,
            auditor=auditor,
            refusals=dict(installation.refusals()),
            leaks=await leaks_of(installation),
            logged=[str(fault) for node in installation.nodes for fault in node.server.faults()],
        )


def too_few(auditor: Auditor, races: int) -> list[str]:
    """Describe the tables with fewer audited races than `races`, and a missing audit."""
    codes = [table[0].notes.code for table in auditor.tables]
    found = [
        f"only {auditor.races[code]} races of {code} were audited, of at least {races}"
        for code in codes
        if auditor.races[code] < races
    ]
    if not (auditor.ranked and auditor.rows):
        found.append("no leaderboard was audited")
    return found


async def _inject_all(
    plan: StormPlan, storm: Storm, auditor: Auditor, report: Callable[[str], None]
) -> bool:
    """Inject all faults; return False if the installation did not recover from one."""
    schedule = storm.schedule(plan.faults, plan.together)
    for number, faults in enumerate(schedule, start=1):
        names = " and ".join(fault.name for fault in faults)
        report(f"{number}/{len(schedule)} {names}")
        try:
            await storm.inject(faults, number)
        except (NeverHappened, TimeoutError, AssertionError) as error:
            auditor.faults.append(
                f"injection {number} of {len(schedule)}, {names}: {error!r}\n{storm.installation.describe()}"
            )
            return False
        if number % AUDIT_EVERY == 0:
            known = len(auditor.faults)
            await auditor.audit_finished()
            for fault in auditor.faults[known:]:
                report(f"WRONG: {fault}")
    return True
