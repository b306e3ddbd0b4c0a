"""A cluster whose primaries are killed, hung and failed over, whose replicas fail and whose Functions go.

What is promised holds while every primary has a replica in step: each fault waits for that before
it strikes, and two faults of the cluster are never thrown together.
"""

import asyncio
import time
from functools import partial
from random import Random

from kit.cluster import Cluster, ClusterNode, until
from kit.storms.fault import Blow, Fault
from kit.storms.town import Guest, Town
from saratoga_server.store.keys import table_key

BACK_AFTER_A_PRIMARY = 6.0
"""Seconds; what is promised when a primary fails over."""

TAKEN_OVER = "another takes over"
STARTED = "the old one runs"
IN_STEP = "replicas in step"


def _cluster(town: Town) -> Cluster:
    assert town.cluster is not None
    return town.cluster


async def _primary_of_a_table(town: Town, chance: Random) -> tuple[ClusterNode, list[Guest]]:
    """A primary that holds a table, when all is in step; and who plays at its tables."""
    cluster = _cluster(town)
    await asyncio.to_thread(cluster.wait_until_in_step)
    owners = [
        await asyncio.to_thread(cluster.owner, table_key(table[0].notes.code))
        for table in town.tables
    ]
    raced = [
        owner
        for owner, table in zip(owners, town.tables, strict=True)
        if any(guest.notes.is_racing for guest in table)
    ]
    primary = chance.choice(raced or owners)
    guests = [
        guest
        for owner, table in zip(owners, town.tables, strict=True)
        if owner is primary
        for guest in table
    ]
    return primary, guests


async def kill_primary(town: Town, chance: Random) -> Blow:
    primary, felt_by = await _primary_of_a_table(town, chance)
    cluster = _cluster(town)
    heir = await asyncio.to_thread(cluster.replica_of, primary)
    phases: dict[str, float] = {}
    began = time.monotonic()
    await asyncio.to_thread(primary.kill)
    heal = partial(asyncio.to_thread, _replace, cluster, primary, heir, phases)
    return Blow(felt_by, heal, began, phases)


def _replace(
    cluster: Cluster, primary: ClusterNode, heir: ClusterNode, phases: dict[str, float]
) -> None:
    """When the heir has taken over, whoever was killed comes back as its replica."""
    _wait_for_heir(heir, phases)
    cluster.wait_until_promoted(heir)
    primary.restart()
    phases[STARTED] = time.monotonic()
    _wait_for_step(cluster, phases)


def _wait_for_heir(heir: ClusterNode, phases: dict[str, float]) -> None:
    until(lambda: heir.role() == "master", f"{heir} is promoted")
    phases[TAKEN_OVER] = time.monotonic()


def _wait_for_step(cluster: Cluster, phases: dict[str, float]) -> None:
    cluster.wait_until_in_step()
    phases[IN_STEP] = time.monotonic()


async def hang_primary_until_replaced(town: Town, chance: Random) -> Blow:
    """It wakes up as one who still believes to be primary."""
    primary, felt_by = await _primary_of_a_table(town, chance)
    cluster = _cluster(town)
    heir = cluster.replica_of(primary)
    phases: dict[str, float] = {}
    began = time.monotonic()
    primary.pause()
    heal = partial(asyncio.to_thread, _wake, cluster, primary, heir, phases)
    return Blow(felt_by, heal, began, phases)


def _wake(
    cluster: Cluster, primary: ClusterNode, heir: ClusterNode, phases: dict[str, float]
) -> None:
    _wait_for_heir(heir, phases)
    primary.resume()
    phases[STARTED] = time.monotonic()
    _wait_for_step(cluster, phases)


async def fail_over(town: Town, chance: Random) -> Blow:
    """As a host asks for it: primary and replica agree on who goes on."""
    return await _hand_over(town, chance, force=False)


async def take_over(town: Town, chance: Random) -> Blow:
    """The replica declares itself primary without asking anybody."""
    return await _hand_over(town, chance, force=True)


async def _hand_over(town: Town, chance: Random, *, force: bool) -> Blow:
    primary, felt_by = await _primary_of_a_table(town, chance)
    cluster = _cluster(town)
    phases: dict[str, float] = {}
    began = time.monotonic()
    await asyncio.to_thread(partial(cluster.fail_over, primary, force=force))
    phases[TAKEN_OVER] = time.monotonic()
    return Blow(felt_by, partial(asyncio.to_thread, _wait_for_step, cluster, phases), began, phases)


async def hang_primary(town: Town, chance: Random) -> Blow:
    """For less long than others need to notice."""
    primary, felt_by = await _primary_of_a_table(town, chance)
    primary.pause()
    return Blow(felt_by, partial(asyncio.to_thread, primary.resume))


async def kill_replica(town: Town, chance: Random) -> Blow:
    primary, felt_by = await _primary_of_a_table(town, chance)
    cluster = _cluster(town)
    replica = await asyncio.to_thread(cluster.replica_of, primary)
    await asyncio.to_thread(replica.kill)
    return Blow(felt_by, partial(asyncio.to_thread, _bring_back, cluster, replica))


def _bring_back(cluster: Cluster, replica: ClusterNode) -> None:
    replica.restart()
    cluster.wait_until_in_step()


async def hang_replica(town: Town, chance: Random) -> Blow:
    """No move is acknowledged that it does not have."""
    primary, felt_by = await _primary_of_a_table(town, chance)
    replica = await asyncio.to_thread(_cluster(town).replica_of, primary)
    replica.pause()
    return Blow(felt_by, partial(asyncio.to_thread, replica.resume))


async def flush_functions(town: Town, chance: Random) -> Blow:
    cluster = _cluster(town)
    await asyncio.to_thread(cluster.wait_until_in_step)
    await asyncio.to_thread(cluster.flush_functions)
    return Blow(town.guests)


async def kill_clients(town: Town, chance: Random) -> Blow:
    """A primary hangs up on everybody."""
    primary, felt_by = await _primary_of_a_table(town, chance)
    kind = chance.choice(["normal", "pubsub"])
    await asyncio.to_thread(primary.ask, "CLIENT", "KILL", "TYPE", kind)
    return Blow(felt_by)


FAILOVERS = (
    Fault(
        name="primary killed",
        part="store",
        strike=kill_primary,
        by_pause=True,
        bar=BACK_AFTER_A_PRIMARY,
    ),
    Fault(
        name="primary hung until replaced",
        part="store",
        strike=hang_primary_until_replaced,
        by_pause=True,
        bar=BACK_AFTER_A_PRIMARY,
    ),
    Fault(
        name="failover asked for",
        part="store",
        strike=fail_over,
        by_pause=True,
        bar=BACK_AFTER_A_PRIMARY,
    ),
    Fault(
        name="failover by force",
        part="store",
        strike=take_over,
        by_pause=True,
        bar=BACK_AFTER_A_PRIMARY,
    ),
)

CLUSTER_FAULTS = (
    *FAILOVERS,
    Fault(name="primary hung", part="store", strike=hang_primary, hold=(0.2, 0.8), from_heal=True),
    Fault(
        name="replica killed", part="store", strike=kill_replica, hold=(0.0, 0.5), from_heal=True
    ),
    Fault(name="replica hung", part="store", strike=hang_replica, hold=(0.2, 1.5), from_heal=True),
    Fault(name="Functions flushed", part="store", strike=flush_functions),
    Fault(name="clients killed by the store", part="store", strike=kill_clients),
)
