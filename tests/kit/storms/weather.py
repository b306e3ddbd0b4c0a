"""Which faults belong to which town, and a whole storm over it: thrown, audited, cleared up."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kit.storms.auditor import Auditor
from kit.storms.cluster_faults import CLUSTER_FAULTS
from kit.storms.fault import Fault
from kit.storms.leaks import left_over
from kit.storms.line_faults import LINE_FAULTS
from kit.storms.node_faults import HUNG_LONG as NODE_HUNG_LONG
from kit.storms.node_faults import NODE_FAULTS, WAY_FAULTS
from kit.storms.store_faults import HUNG_LONG as STORE_HUNG_LONG
from kit.storms.store_faults import STORE_FAULTS
from kit.storms.storm import Storm
from kit.storms.town import NeverCame, Town, open_town
from saratoga_client.net.connection import Timing
from saratoga_server.store.opening import open_store

LOOKED_AFTER = 25
"""Throws after which the races that are over are looked through."""

AUDITED_WITHIN = 180.0
"""Seconds for the last look through everything."""

STANDALONE = (*NODE_FAULTS, *WAY_FAULTS, *STORE_FAULTS, *LINE_FAULTS)
CLUSTERED = (*CLUSTER_FAULTS, *NODE_FAULTS, *LINE_FAULTS)
LONG_STANDALONE = (*STANDALONE, NODE_HUNG_LONG, STORE_HUNG_LONG)
LONG_CLUSTERED = (*CLUSTERED, NODE_HUNG_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is to come down, and where."""

    seed: str
    faults: int
    kinds: Sequence[Fault]
    games: Sequence[str] = ("lady-palk", "canfield")
    nodes: int = 3
    pace: float = 6.0
    """Moves a second of every player."""
    together: int = 6
    """Every so many throws two faults are thrown at once; 0: never."""
    silence: float = Timing().silence
    """Seconds without a word after which players take their line for dead."""
    clustered: bool = False
    races: int = 1
    """That every table must have ended, and that must have been judged, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What a storm has left."""

    storm: Storm
    audited: Auditor
    refusals: dict[str, int]
    left: list[str]
    """What is still there though everybody has gone."""

    logged: list[str]
    """What the nodes hold to be faults of their own."""

    @property
    def faults(self) -> list[str]:
        """What is wrong: there must be nothing. Who is late is another matter, on a busy machine."""
        return [*self.audited.faults, *self.left, *self.logged]

    @property
    def late(self) -> list[str]:
        """Where somebody came back later than promised."""
        return self.storm.late

    @property
    def fewest(self) -> int:
        """Finished races judged at the table that has the fewest."""
        tables = self.audited.town.tables
        return min((self.audited.races[table[0].notes.code] for table in tables), default=0)

    def figures(self) -> str:
        audited = self.audited
        return (
            f"{self.storm.figures()}\n"
            f"{audited.races.total()} finished races judged, at every table {self.fewest} or "
            f"more; {audited.ranked} results looked for on the leaderboards, {audited.rows} rows "
            f"compared; {audited.moves} moves acknowledged, {audited.repeats} of them once more, "
            f"{audited.unheard} boards with an answer that never came; refusals {self.refusals}"
        )


async def weathered(
    forecast: Forecast, tell: Callable[[str], None] = lambda news: None
) -> Aftermath:
    """Let it come down, and look through everything."""
    async with open_town(
        forecast.games,
        nodes=forecast.nodes,
        pace=forecast.pace,
        clustered=forecast.clustered,
        timing=Timing(silence=forecast.silence),
    ) as town:
        storm = Storm(town, forecast.kinds, forecast.seed)
        async with open_store(town.store_url) as store:
            auditor = Auditor(town, store)
            if await _throw_all(forecast, storm, auditor, tell):
                await _play_on(town, auditor, forecast.races)
            await town.rest()
            await asyncio.wait_for(auditor.close(), AUDITED_WITHIN)
            auditor.faults += too_few(auditor, forecast.races)
            auditor.faults += storm.never_felt()
        return Aftermath(
            storm=storm,
            audited=auditor,
            refusals=dict(town.refusals()),
            left=await left_over(town),
            logged=[str(fault) for node in town.nodes for fault in node.house.faults()],
        )


async def _play_on(town: Town, auditor: Auditor, races: int) -> None:
    """Until there are enough races that are over."""
    try:
        await town.finish(races)
    except NeverCame as trouble:
        auditor.faults.append(f"after the storm: {trouble!r}\n{town.picture()}")


def too_few(auditor: Auditor, races: int) -> list[str]:
    """Where fewer races than that were judged, or none was looked for on the leaderboards."""
    codes = [table[0].notes.code for table in auditor.town.tables]
    found = [
        f"only {auditor.races[code]} races of {code} were judged, and {races} should be"
        for code in codes
        if auditor.races[code] < races
    ]
    if not (auditor.ranked and auditor.rows):
        found.append("no leaderboard was compared")
    return found


async def _throw_all(
    forecast: Forecast, storm: Storm, auditor: Auditor, tell: Callable[[str], None]
) -> bool:
    """Throw everything, or stop where the town does not come to itself again; whether all was thrown."""
    schedule = storm.schedule(forecast.faults, forecast.together)
    for number, faults in enumerate(schedule, start=1):
        names = " and ".join(fault.name for fault in faults)
        tell(f"{number}/{len(schedule)} {names}")
        try:
            await storm.throw(faults, number)
        except (NeverCame, TimeoutError, AssertionError) as trouble:
            auditor.faults.append(
                f"throw {number} of {len(schedule)}, {names}: {trouble!r}\n{storm.town.picture()}"
            )
            return False
        if storm.latest:
            tell(f"    {storm.latest}")
        if number % LOOKED_AFTER == 0:
            known = len(auditor.faults)
            await auditor.look()
            for fault in auditor.faults[known:]:
                tell(f"WRONG: {fault}")
    return True
