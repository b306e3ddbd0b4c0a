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

BACK_IN_ANY_CASE = 10.0
"""Seconds after all is right again within which everybody must be back, whatever was thrown."""

STRUCK_WITHIN = 90.0
"""Seconds for a fault to be struck or healed: a bound, never a measure."""


@dataclass
class Toll:
    """What one kind of fault has cost."""

    count: int = 0
    unfelt: int = 0
    """Of these, felt by nobody: they say nothing."""
    alone: int = 0
    """Of all, thrown with nothing else going on."""
    waits: list[float] = field(default_factory=list)
    """Seconds until a racer was back, of every racer that felt one thrown alone."""
    heals: list[float] = field(default_factory=list)
    """Seconds from the strike until everything was right again, of those thrown alone."""
    phases: dict[str, list[float]] = field(default_factory=dict)
    """Seconds from the strike until the store had come so far, of those thrown alone."""

    def line(self) -> str:
        waits = f"{len(self.waits):>8} {_spread(self.waits)}"
        return f"{self.count:>6} {self.unfelt:>6} {self.alone:>6} {waits} {_spread(self.heals)}"


def _spread(seconds: list[float]) -> str:
    """Median, nine of ten, and the longest."""
    if not seconds:
        return f"{'-':>7} {'-':>7} {'-':>7}"
    ordered = sorted(seconds)
    most = ordered[int(len(ordered) * 0.9)]
    return f"{median(ordered):>7.2f} {most:>7.2f} {ordered[-1]:>7.2f}"


@dataclass
class Storm:
    """Over one town; `seed` says which faults come in which order, and where they strike."""

    town: Town
    kinds: Sequence[Fault]
    seed: str
    tolls: dict[str, Toll] = field(default_factory=dict)
    thrown: int = 0
    """Faults struck: fewer than planned where the storm has stopped early."""
    late: list[str] = field(default_factory=list)
    """Where somebody came back later than promised."""
    latest: str = ""
    """How long things took after the last throw, where it was of one fault."""

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
                pair = sorted((first, others[0]), key=lambda fault: not fault.is_patient)
                planned.append(tuple(pair))
            else:
                planned.append((first,))
        return planned

    async def throw(self, faults: tuple[Fault, ...], number: int) -> None:
        """Strike, hold, heal, and wait until everybody is back."""
        chance = Random(f"{self.seed} {number}")
        await self.town.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PEACE))
        racing = self.town.racing()
        self.latest = ""
        since = struck = time.monotonic()
        blows: list[tuple[Fault, Blow]] = []
        for fault in faults:
            began = time.monotonic()
            async with asyncio.timeout(STRUCK_WITHIN):
                blows.append((fault, await fault.strike(self.town, chance)))
            self.thrown += 1
            struck = blows[-1][1].began or time.monotonic()
            if not fault.by_connection:
                since = struck
            elif len(faults) == 1:
                since = began
            await asyncio.sleep(chance.uniform(*fault.hold))
        # at once: a node does not come up while its store is away, nor may it be waited for
        async with asyncio.timeout(STRUCK_WITHIN):
            await asyncio.gather(*(blow.heal() for _, blow in blows))
        healed = time.monotonic()
        if any(fault.from_heal for fault in faults):
            since = healed
        if len(faults) == 1:
            self._toll(faults[0]).heals.append(healed - struck)
        await self._see_them_back(faults, blows, since, healed, racing)

    def _toll(self, fault: Fault) -> Toll:
        return self.tolls.setdefault(fault.name, Toll())

    async def _see_them_back(
        self,
        faults: tuple[Fault, ...],
        blows: list[tuple[Fault, Blow]],
        since: float,
        healed: float,
        racing: list[Guest],
    ) -> None:
        felt_by = {id(guest): guest for _, blow in blows for guest in blow.felt_by}
        names = " and ".join(fault.name for fault in faults)
        by_connection = len(faults) == 1 and faults[0].by_connection
        by_pause = len(faults) == 1 and faults[0].by_pause
        # whoever keeps its connection may play on until it feels the strike: back is who plays after it
        awaited_since = healed if by_pause and not by_connection else since
        back = await self.town.all_back(
            felt_by.values(), awaited_since, names, by_connection=by_connection
        )
        waits = [moment - since for guest, moment in back if guest in racing]
        if by_pause:
            waits = [guest.pause(since, moment) for guest, moment in back if guest in racing]
        slowest = max((moment - healed for _, moment in back), default=0.0)
        if slowest > BACK_IN_ANY_CASE:
            self._late(names, slowest, healed - since, back)
        for fault, blow in blows:
            toll = self._toll(fault)
            toll.count += 1
            toll.unfelt += not list(blow.felt_by)
            if len(faults) > 1:
                continue
            toll.alone += 1
            toll.waits += waits
            phases = {what: moment - since for what, moment in blows[0][1].phases.items()}
            for what, seconds in phases.items():
                toll.phases.setdefault(what, []).append(seconds)
            longest = max(waits, default=0.0)
            self.latest = "; ".join(
                [f"{what} {seconds:.2f}" for what, seconds in phases.items()]
                + [f"racers back {' '.join(f'{wait:.2f}' for wait in sorted(waits))}"]
            )
            if fault.bar is not None and longest > fault.bar:
                self._late(names, longest, healed - since, back)

    def never_felt(self) -> list[str]:
        """The kinds that were thrown, and struck nobody at all."""
        return [
            f"{name}: {toll.count} thrown, and nobody felt any"
            for name, toll in sorted(self.tolls.items())
            if toll.unfelt >= toll.count
        ]

    def _late(
        self, names: str, longest: float, healed: float, back: list[tuple[Guest, float]]
    ) -> None:
        times = ", ".join(f"{guest.player.name} {moment:.2f}" for guest, moment in back)
        self.late.append(
            f"{names}: {longest:.2f} s, all right after {healed:.2f} s; back at {times}\n"
            f"{self.town.picture()}"
        )

    def figures(self) -> str:
        """A line for every kind: how often, and how long it took players to be back."""
        spread = f"{'median':>7} {'of ten':>7} {'longest':>7}"
        over = f"{'':<32}{'':>20} {'s until racers are back':>32} {'s until all is right':>23}"
        head = f"{'':<32}{'thrown':>6} {'unfelt':>6} {'alone':>6} {'racers':>8} {spread} {spread}"
        lines = [over, head]
        lines += [f"{name:<32}{toll.line()}" for name, toll in sorted(self.tolls.items())]
        steps = [
            f"{name + ': ' + what:<52}{len(seconds):>6}{'':>3}{_spread(seconds)}"
            for name, toll in sorted(self.tolls.items())
            for what, seconds in toll.phases.items()
        ]
        if steps:
            lines += [f"{'':<52}{'times':>6} {'s from the strike':>26}", *steps]
        return "\n".join(lines)
