"""The clocks of a cluster's nodes, compared at the start, when primaries change, and every few minutes.

A race uses the clock of its primary, and each replica may become one. So replicas are compared too.
"""

import asyncio
from collections.abc import Collection, Mapping
from statistics import median
from typing import Final, NamedTuple

from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.store.primaries import Primaries, Primary

CLOCKS_WITHIN: Final = 0.5
"""Seconds by which a node's clock may differ from the others'."""
COMPARE_EVERY: Final = 300.0
"""Seconds between two comparisons while the primaries stay the same."""
ANSWER_WITHIN: Final = 1.0
"""Seconds in which a node must answer; one that does not is left out."""

_log = EventLog("store")


class ClockReading(NamedTuple):
    """The clock of a node, read once."""

    lead: float
    """Seconds by which it is ahead of this process's monotonic clock."""
    unsure: float
    """The possible error of `lead`, in seconds: half of the round trip."""


def differences(
    readings: Mapping[str, ClockReading], primaries: Collection[str]
) -> dict[str, float]:
    """Return by how many seconds each node is ahead of the primaries' median, if it certainly differs."""
    leads = [reading.lead for name, reading in readings.items() if name in primaries]
    if not leads:
        return {}
    middle = median(leads)
    ahead = {name: reading.lead - middle for name, reading in readings.items()}
    return {
        name: round(lead, 3)
        for name, lead in ahead.items()
        if abs(lead) - readings[name].unsure > CLOCKS_WITHIN
    }


class ClusterClocks:
    """The comparison of the clocks of all nodes of a cluster."""

    def __init__(self, primaries: Primaries) -> None:
        self._primaries = primaries
        self._logged: dict[tuple[str, str], float] = {}
        """The differences that were logged last, by node and role."""

    async def keep(self) -> None:
        """Compare the clocks whenever the primaries change, and every `COMPARE_EVERY` seconds."""
        while True:
            revision = self._primaries.revision
            await self.compare()
            change = asyncio.create_task(self._primaries.changed_since(revision))
            try:
                await asyncio.wait([change], timeout=COMPARE_EVERY)
            finally:
                change.cancel()

    async def compare(self) -> None:
        """Read and compare the clocks; log what has changed since the last comparison."""
        nodes = (*self._primaries.all(), *self._primaries.replicas())
        readings = await asyncio.gather(*map(_read, nodes))
        primaries = {primary.name for primary in self._primaries.all()}
        answered = {
            node.name: reading
            for node, reading in zip(nodes, readings, strict=True)
            if reading is not None
        }
        found = differences(answered, primaries)
        now = {
            (name, "primary" if name in primaries else "replica"): ahead
            for name, ahead in found.items()
        }
        for (name, role), ahead in now.items():
            if abs(ahead - self._logged.get((name, role), 0.0)) > CLOCKS_WITHIN:
                _log.warning("clocks_differ", store=name, role=role, ahead_seconds=ahead)
        if self._logged and not now:
            _log.info("clocks_agree")
        self._logged = now


async def _read(node: Primary) -> ClockReading | None:
    clock = asyncio.get_running_loop().time
    asked = clock()
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            seconds, micros = await node.client.time()
    except (RedisError, OSError, TimeoutError):
        return None
    answered = clock()
    return ClockReading(seconds + micros / 1e6 - (asked + answered) / 2, (answered - asked) / 2)
