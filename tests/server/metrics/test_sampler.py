"""A node's readiness and its store's health, as they come to be read by Prometheus."""

import asyncio
from collections.abc import Sequence

from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.sampler import Sampler
from saratoga_server.ports import StoreHealth


class Door:
    """Players may come, or there is a reason why not."""

    reason: str | None = None

    async def why_not_ready(self) -> str | None:
        return self.reason


UP = StoreHealth(primary="a:1", is_up=True, memory=5)


async def healthy() -> Sequence[StoreHealth]:
    return [UP]


async def test_what_is_seen_is_written_down() -> None:
    metrics = Metrics()
    await Sampler(Door(), healthy, metrics).look()
    assert (metrics.is_ready, metrics.stores) == (True, (UP,))


async def test_tasks_are_counted() -> None:
    metrics = Metrics()
    vitals = Sampler(Door(), healthy, metrics)
    await vitals.look()
    before = metrics.tasks
    more = asyncio.create_task(asyncio.sleep(0))
    await vitals.look()
    assert (before, metrics.tasks) == (1, 2)
    await more


async def test_a_door_that_closes_is_ready_no_more() -> None:
    metrics, door = Metrics(), Door()
    vitals = Sampler(door, healthy, metrics)
    await vitals.look()
    door.reason = "This server is about to stop."
    await vitals.look()
    assert not metrics.is_ready
