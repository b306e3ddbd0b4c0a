"""Inject faults into an installation, one or two at a time, in an order that a seed determines."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation, StormPlayer

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
    troubles: list[tuple[float, float]] = field(default_factory=list)
    """For every fault of nodes or store: when it was injected, and when all players were back."""
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
            others = [
                kind
                for kind in left
                if kind.part != first.part and not kind.is_alone and not first.is_alone
            ]
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
        racing = self.installation.racing()
        first = since = time.monotonic()
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
        if any(fault.part != "connection" for fault in faults):
            self.troubles.append((first, time.monotonic()))

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
        by_pause = len(faults) == 1 and faults[0].by_pause
        # A player that keeps its connection may play on at first: await its moves after the healing.
        awaited_since = healed if by_pause and not by_reconnect else since
        back = await self.installation.all_back(
            affected.values(), awaited_since, names, by_reconnect=by_reconnect
        )
        waits = [moment - since for player, moment in back if player in racing]
        if by_pause:
            waits = [player.pause(since, moment) for player, moment in back if player in racing]
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
        times = ", ".join(f"{player.bot.name} {moment:.2f}" for player, moment in back)
        self.late.append(
            f"{names}: {longest:.2f} s, healed after {healed:.2f} s; back at {times}\n"
            f"{self.installation.describe()}"
        )
