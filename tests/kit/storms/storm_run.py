"""Run a storm: start an installation, inject faults, audit the races, look for leaks."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from kit.server_process import ServerProcess
from kit.storms.auditor import Auditor
from kit.storms.connection_faults import CONNECTION_FAULTS
from kit.storms.fault import Fault
from kit.storms.installation import Installation, NeverHappened, open_installation
from kit.storms.leaks import leaks_of
from kit.storms.node_faults import HUNG_LONG as NODE_HUNG_LONG
from kit.storms.node_faults import NODE_FAULTS, STORE_LINK_FAULTS
from kit.storms.process_faults import PROCESS_FAULTS
from kit.storms.refusals import untrue_refusals
from kit.storms.store_faults import AWAY_LONG as STORE_AWAY_LONG
from kit.storms.store_faults import GUARD_FAULTS, STORE_FAULTS
from kit.storms.store_faults import HUNG_LONG as STORE_HUNG_LONG
from kit.storms.storm import Storm
from saratoga_client.net.connection import Timing
from saratoga_rules.games import GAMES
from saratoga_server.store.opening import open_store

AUDIT_EVERY = 25
"""The number of injections between two audits of the finished races."""

HEARTBEATS = 3
"""The least number of heartbeats that a player sends before it counts a silent connection as lost."""

AUDITED_WITHIN = 180.0
"""Longest time in seconds for the final audit."""

SHORT = (*NODE_FAULTS, *STORE_LINK_FAULTS, *STORE_FAULTS, *CONNECTION_FAULTS)
CHANGED = (*GUARD_FAULTS, *PROCESS_FAULTS)
"""Faults of the store and its nodes in which no process ends."""
LONG = (*SHORT, *CHANGED, NODE_HUNG_LONG, STORE_HUNG_LONG, STORE_AWAY_LONG)


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
        tables = self.auditor.installation.tables
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
            auditor = Auditor(installation, store)
            if await _inject_all(plan, storm, auditor, report):
                await _finish_races(installation, auditor, plan.races)
            await installation.stop_racing()
            await asyncio.wait_for(auditor.audit_all(), AUDITED_WITHIN)
            auditor.faults += too_few(auditor, plan.races)
            auditor.faults += storm.without_effect()
            for player in installation.players:
                auditor.faults += untrue_refusals(player.notes, storm.troubles)
        return StormResult(
            storm=storm,
            auditor=auditor,
            refusals=dict(installation.refusals()),
            leaks=await leaks_of(installation),
            logged=[str(fault) for node in installation.nodes for fault in node.server.faults()],
        )


async def _finish_races(installation: Installation, auditor: Auditor, races: int) -> None:
    """Wait until at least `races` races have finished at every table."""
    try:
        await installation.finish(races)
    except NeverHappened as error:
        auditor.faults.append(f"after the storm: {error!r}\n{installation.describe()}")


def too_few(auditor: Auditor, races: int) -> list[str]:
    """Describe the tables with fewer audited races than `races`, and a missing audit."""
    codes = [table[0].notes.code for table in auditor.installation.tables]
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
