"""Nodes receive events of every table of a cluster, whichever primary owns the table's slot."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from kit.cluster import Cluster, running_cluster
from kit.event_recorder import EventRecorder, recording
from kit.movers import TABLES
from saratoga_rules.records.standing import State
from saratoga_server.messages.node_events import Announce, Stood, Touched
from saratoga_server.ports import LiveStanding, TableWrite
from saratoga_server.store.event_channel import ALL_NODES, PARTITION_CHANNELS
from saratoga_server.store.keys import partition, table_key
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.slots import slot_of


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


@asynccontextmanager
async def two_nodes(cluster: Cluster) -> AsyncIterator[tuple[Store, EventRecorder]]:
    """Open two store clients: one that writes, and one that listens."""
    cluster.wait_until_in_step()
    cluster.empty()
    async with (
        open_store(cluster.url) as near,
        open_store(cluster.url) as far,
        recording(near.events, "east") as east,
    ):
        yield far, east


async def publish_everything(far: Store, east: EventRecorder, version: int) -> None:
    """Publish an event of every kind, for every table, and wait until all are received."""
    for code in TABLES:
        write = TableWrite(code=code, expected=version - 1, body=b"-", due=None)
        assert await far.tables.save_table(write)
    standing = LiveStanding(version, 0, State.RACING)
    races = {f"{code}/{version}": {"p": standing} for code in TABLES}
    assert await far.events.publish_standings("west", races) == frozenset()
    await far.events.publish(Announce(f"version {version}"))
    for code in TABLES:
        await east.receives(Touched(code, version))
    await east.receives(Announce(f"version {version}"))

    def standings() -> dict[str, dict[str, LiveStanding]]:
        return {
            race: stood
            for each in east.events
            if isinstance(each, Stood)
            for race, stood in each.races.items()
        }

    await east.until(lambda: races.items() <= standings().items())


async def test_every_primary_is_subscribed_to_and_published_through(cluster: Cluster) -> None:
    owners = {cluster.owner(table_key(code)) for code in TABLES}
    assert len(owners) == len(cluster.primaries())
    async with two_nodes(cluster) as (far, east):
        await east.until(lambda: east.subscriptions == len(owners))
        await publish_everything(far, east, 1)


async def test_after_a_failover_the_new_primary_is_subscribed_to(cluster: Cluster) -> None:
    async with two_nodes(cluster) as (far, east):
        await publish_everything(far, east, 1)
        openings = east.subscriptions
        await asyncio.to_thread(cluster.fail_over, cluster.owner(ALL_NODES))
        await east.until(lambda: east.subscriptions > openings)
        await publish_everything(far, east, 2)


async def test_after_a_primarys_death_its_successor_is_subscribed_to(cluster: Cluster) -> None:
    async with two_nodes(cluster) as (far, east):
        await publish_everything(far, east, 1)
        dead = cluster.owner(table_key(TABLES[0]))
        openings = east.subscriptions
        heir = await asyncio.to_thread(cluster.kill, dead)
        await asyncio.to_thread(cluster.wait_until_promoted, heir)
        await east.until(lambda: east.subscriptions > openings)
        await publish_everything(far, east, 2)
        await asyncio.to_thread(dead.restart)


async def test_a_partition_that_moves_is_subscribed_to_at_its_new_primary(cluster: Cluster) -> None:
    async with two_nodes(cluster) as (far, east):
        await publish_everything(far, east, 1)
        channel = PARTITION_CHANNELS[partition(TABLES[0])]
        source = cluster.owner(channel)
        target = next(each for each in cluster.primaries() if each is not source)
        openings = east.subscriptions
        await asyncio.to_thread(cluster.move_slot, slot_of(channel), source, target)
        # Both subscriptions change: one gains a channel, one loses a channel.
        await east.until(lambda: east.subscriptions >= openings + 2)
        await publish_everything(far, east, 2)
