"""Samples of a node's readiness, its store's health and its tasks."""

import asyncio

from saratoga_server.health_port import StoreHealth
from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.sampler import Sampler


class Node:
    """A node that is ready unless `reason` is set."""

    reason: str | None = None

    async def why_not_ready(self) -> str | None:
        return self.reason


def not_refused() -> None:
    return None


UP = StoreHealth(primary="a:1", is_up=True, memory=5)


async def healthy() -> StoreHealth:
    return UP


async def test_a_sample_has_readiness_and_store_health() -> None:
    metrics = Metrics()
    await Sampler(Node(), healthy, metrics, not_refused).sample()
    assert (metrics.is_ready, metrics.store) == (True, UP)


async def test_a_sample_counts_the_tasks_of_the_event_loop() -> None:
    metrics = Metrics()
    sampler = Sampler(Node(), healthy, metrics, not_refused)
    await sampler.sample()
    before = metrics.tasks
    another = asyncio.create_task(asyncio.sleep(0))
    await sampler.sample()
    assert (before, metrics.tasks) == (1, 2)
    await another


async def test_a_node_that_is_about_to_stop_is_sampled_as_not_ready() -> None:
    metrics, node = Metrics(), Node()
    sampler = Sampler(node, healthy, metrics, not_refused)
    await sampler.sample()
    node.reason = "This server is about to stop."
    await sampler.sample()
    assert not metrics.is_ready


async def test_a_refused_store_is_sampled_until_it_is_accepted_again() -> None:
    metrics, reasons = Metrics(), [None, "The store loses moves.", None]
    sampler = Sampler(Node(), healthy, metrics, reasons.pop)
    seen = []
    for _ in range(3):
        await sampler.sample()
        seen.append(metrics.is_store_refused)
    assert seen == [False, True, False]
