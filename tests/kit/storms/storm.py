"""A storm: faults thrown at a town one after the other, now and then two at once, all by one seed."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median

from kit.storms.fault import Blow, Fault
from kit.storms.town import Guest, Town

LONGEST_PEACE = 0.3
"""Seconds between everybody's being back and the next throw, at most."""

STRUCK_WITHIN = 90.0
"""Seconds for a fault to be struck or healed: a bound, never a measure."""


@dataclass
class Toll:
    """What one kind of fault has cost."""

    count: int = 0
    alone: int = 0
    """Of these, thrown with nothing else going on."""
    waits: list[float] = field(default_factory=list)
    """Seconds until a racer was back, of every racer that felt one thrown alone."""

    def line(self) -> str:
        if not self.waits:
            return f"{self.count:>6} {self.alone:>6} {'-':>8} {'-':>8} {'-':>8}"
        return (
            f"{self.count:>6} {self.alone:>6} {len(self.waits):>8} "
            f"{median(self.waits):>8.2f} {max(self.waits):>8.2f}"
        )


@dataclass
class Storm:
    """Over one town; `seed` says which faults come in which order, and where they strike."""

    town: Town
    kinds: Sequence[Fault]
    seed: str
    tolls: dict[str, Toll] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    """Where somebody came back later than promised."""

    def schedule(self, faults: int, together: int) -> list[tuple[Fault, ...]]:
        """So many faults: every kind as often as every other, in any order.

        Every `together`th throw is of two at once, of different parts; 0: none.
        """
        chance = Random(f"schedule {self.seed}")
        bag: list[Fault] = []
        planned: list[tuple[Fault, ...]] = []
        while sum(map(len, planned)) < faults:
            if not bag:
                bag = list(self.kinds)
                chance.shuffle(bag)
            first = bag.pop()
            others = [kind for kind in bag if kind.part != first.part]
            if together and others and len(planned) % together == together - 1:
                bag.remove(others[0])
                planned.append((first, others[0]))
            else:
                planned.append((first,))
        return planned

    async def throw(self, faults: tuple[Fault, ...], number: int) -> None:
        """Strike, hold, heal, and wait until everybody is back."""
        chance = Random(f"{self.seed} {number}")
        await self.town.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PEACE))
        racing = self.town.racing()
        since = time.monotonic()
        blows: list[tuple[Fault, Blow]] = []
        for fault in faults:
            struck = time.monotonic()
            async with asyncio.timeout(STRUCK_WITHIN):
                blows.append((fault, await fault.strike(self.town, chance)))
            if not fault.by_connection:
                since = time.monotonic()
            elif len(faults) == 1:
                since = struck
            await asyncio.sleep(chance.uniform(*fault.hold))
        # at once: a node does not come up while its store is away, nor may it be waited for
        async with asyncio.timeout(STRUCK_WITHIN):
            await asyncio.gather(*(blow.heal() for _, blow in blows))
        if any(fault.from_heal for fault in faults):
            since = time.monotonic()
        await self._see_them_back(faults, blows, since, racing)

    async def _see_them_back(
        self,
        faults: tuple[Fault, ...],
        blows: list[tuple[Fault, Blow]],
        since: float,
        racing: list[Guest],
    ) -> None:
        felt_by = {id(guest): guest for _, blow in blows for guest in blow.felt_by}
        names = " and ".join(fault.name for fault in faults)
        by_connection = len(faults) == 1 and faults[0].by_connection
        back = await self.town.all_back(felt_by.values(), since, names, by_connection=by_connection)
        waits = [moment - since for guest, moment in back if guest in racing]
        for fault in faults:
            toll = self.tolls.setdefault(fault.name, Toll())
            toll.count += 1
            if len(faults) > 1:
                continue
            toll.alone += 1
            toll.waits += waits
            if fault.bar is not None and max(waits, default=0.0) > fault.bar:
                self.late.append(f"{fault.name}: {max(waits):.2f} s")

    def figures(self) -> str:
        """A line for every kind: how often, and how long it took players to be back."""
        head = f"{'':<32}{'thrown':>6} {'alone':>6} {'racers':>8} {'median':>8} {'longest':>8} s"
        return "\n".join(
            [head, *(f"{name:<32}{toll.line()}" for name, toll in sorted(self.tolls.items()))]
        )
