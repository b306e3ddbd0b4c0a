"""The clocks of a cluster's nodes: which differ, and what the log says about them."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from kit.cluster import Cluster
from saratoga_server.store import cluster_clocks
from saratoga_server.store.cluster_clocks import (
    CLOCKS_WITHIN,
    ClockReading,
    ClusterClocks,
    differences,
)
from saratoga_server.store.keys import PUBLIC
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.primaries import open_primaries
from saratoga_server.store.slots import slot_of


def readings(**leads: float) -> dict[str, ClockReading]:
    return {name: ClockReading(lead, 0.01) for name, lead in leads.items()}


def test_the_node_that_differs_from_most_others_is_named() -> None:
    assert differences(readings(a=100.0, b=100.2, c=400.1), "abc") == {"c": 299.9}
    assert differences(readings(a=100.0, b=-3500.0, c=100.0, d=100.3), "abcd") == {"b": -3600.0}


def test_replicas_are_compared_with_the_primaries_even_if_most_replicas_differ() -> None:
    leads = readings(a=1.0, b=1.0, c=1.0, x=301.0, y=301.0, z=301.0, w=301.0)
    assert differences(leads, "abc") == dict.fromkeys("xyzw", 300.0)


def test_a_difference_that_the_round_trip_explains_is_none() -> None:
    slow = readings(a=0.0, b=0.0) | {"c": ClockReading(CLOCKS_WITHIN + 1.0, 1.0)}
    assert differences(slow, "abc") == {}
    assert differences({}, "abc") == {}
    assert differences(slow, "") == {}


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, object]]:
    """Return the events about clocks so far, each with the role of the node."""
    found = [(each.message, vars(each)["fields"].get("role")) for each in caplog.records]
    return [event for event in found if event[0].startswith("clocks_")]


async def test_a_difference_is_logged_once_until_it_is_over(
    trio: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "saratoga")
    async with AsyncExitStack() as stack:
        primaries = await open_primaries(trio.url, is_cluster=True)
        stack.push_async_callback(primaries.close)
        clocks = ClusterClocks(primaries)
        await clocks.compare()
        assert logged(caplog) == []
        with monkeypatch.context() as patched:
            patched.setattr(cluster_clocks, "CLOCKS_WITHIN", -9.0)
            await clocks.compare()
        assert logged(caplog) == [("clocks_differ", "primary")] * 3
        await clocks.compare()
        assert logged(caplog)[3:] == [("clocks_agree", None)]


async def test_clocks_are_compared_at_the_start_and_again_when_primaries_change(
    trio: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: asyncio.Queue[None] = asyncio.Queue()
    compare = ClusterClocks.compare

    async def counted(clocks: ClusterClocks) -> None:
        await compare(clocks)
        compared.put_nowait(None)

    monkeypatch.setattr(ClusterClocks, "compare", counted)
    async with asyncio.timeout(20), open_store(trio.url) as store:
        await compared.get()
        await _moved_one_slot(trio, store)
        await compared.get()
        monkeypatch.setattr(cluster_clocks, "COMPARE_EVERY", 0.0)
        await _moved_one_slot(trio, store)
        await compared.get()
        await compared.get()


async def _moved_one_slot(trio: Cluster, store: Store) -> None:
    """Move a slot to another primary, and let the store notice."""
    slot = slot_of(PUBLIC)
    source = trio.owner(PUBLIC)
    target = next(node for node in trio.primaries() if node is not source)
    revision = store.primaries.revision
    await asyncio.to_thread(trio.move_slot, slot, source, target)
    while store.primaries.revision == revision:
        await store.primaries.refresh()
