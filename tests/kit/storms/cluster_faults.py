"""Faults of a cluster: primaries killed, hung and failed over, replicas lost, Functions flushed.

Durability is promised while every primary has a synced replica. Each fault waits for that before it
is injected, and two faults of the cluster are never injected together.
"""

import asyncio
import time
from functools import partial
from random import Random

from kit.cluster import Cluster, ClusterNode, until
from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation
from kit.storms.storm_player import StormPlayer
from saratoga_server.store.keys import table_key

BACK_AFTER_A_PRIMARY = 6.0
"""The promised time in seconds for players to be back after a failover."""

TAKEN_OVER = "replica promoted"
STARTED = "old primary running"
IN_STEP = "replicas in step"


def _cluster(installation: Installation) -> Cluster:
    assert installation.cluster is not None
    return installation.cluster


async def _primary_of_a_table(
    installation: Installation, random: Random
) -> tuple[ClusterNode, list[StormPlayer]]:
    """Wait until replicas are in sync; return a primary that holds tables, and their players."""
    cluster = _cluster(installation)
    await asyncio.to_thread(cluster.wait_until_in_step)
    owners = [
        await asyncio.to_thread(cluster.owner, table_key(table[0].notes.code))
        for table in installation.tables
    ]
    raced = [
        owner
        for owner, table in zip(owners, installation.tables, strict=True)
        if any(player.notes.is_racing for player in table)
    ]
    primary = random.choice(raced or owners)
    players = [
        player
        for owner, table in zip(owners, installation.tables, strict=True)
        if owner is primary
        for player in table
    ]
    return primary, players


async def kill_primary(installation: Installation, random: Random) -> ActiveFault:
    primary, affected = await _primary_of_a_table(installation, random)
    cluster = _cluster(installation)
    successor = await asyncio.to_thread(cluster.replica_of, primary)
    phases: dict[str, float] = {}
    began = time.monotonic()
    await asyncio.to_thread(primary.kill)
    heal = partial(asyncio.to_thread, _replace, cluster, primary, successor, phases)
    return ActiveFault(affected, heal, began, phases)


def _replace(
    cluster: Cluster, primary: ClusterNode, successor: ClusterNode, phases: dict[str, float]
) -> None:
    """Restart the killed primary as a replica, after its former replica has been promoted."""
    _wait_for_successor(successor, phases)
    cluster.wait_until_promoted(successor)
    primary.restart()
    phases[STARTED] = time.monotonic()
    _wait_for_step(cluster, phases)


def _wait_for_successor(successor: ClusterNode, phases: dict[str, float]) -> None:
    until(lambda: successor.role() == "master", f"{successor} is promoted")
    phases[TAKEN_OVER] = time.monotonic()


def _wait_for_step(cluster: Cluster, phases: dict[str, float]) -> None:
    cluster.wait_until_in_step()
    phases[IN_STEP] = time.monotonic()


async def hang_primary_until_replaced(installation: Installation, random: Random) -> ActiveFault:
    """Pause a primary until its replica is promoted; it resumes as if it were still primary."""
    primary, affected = await _primary_of_a_table(installation, random)
    cluster = _cluster(installation)
    successor = cluster.replica_of(primary)
    phases: dict[str, float] = {}
    began = time.monotonic()
    primary.pause()
    heal = partial(asyncio.to_thread, _wake, cluster, primary, successor, phases)
    return ActiveFault(affected, heal, began, phases)


def _wake(
    cluster: Cluster, primary: ClusterNode, successor: ClusterNode, phases: dict[str, float]
) -> None:
    _wait_for_successor(successor, phases)
    primary.resume()
    phases[STARTED] = time.monotonic()
    _wait_for_step(cluster, phases)


async def fail_over(installation: Installation, random: Random) -> ActiveFault:
    """Promote a replica in agreement with its primary, as an operator does."""
    return await _hand_over(installation, random, force=False)


async def take_over(installation: Installation, random: Random) -> ActiveFault:
    """Promote a replica without the agreement of its primary."""
    return await _hand_over(installation, random, force=True)


async def _hand_over(installation: Installation, random: Random, *, force: bool) -> ActiveFault:
    primary, affected = await _primary_of_a_table(installation, random)
    cluster = _cluster(installation)
    phases: dict[str, float] = {}
    began = time.monotonic()
    await asyncio.to_thread(partial(cluster.fail_over, primary, force=force))
    phases[TAKEN_OVER] = time.monotonic()
    return ActiveFault(
        affected, partial(asyncio.to_thread, _wait_for_step, cluster, phases), began, phases
    )


async def hang_primary(installation: Installation, random: Random) -> ActiveFault:
    """Pause a primary for less time than the cluster needs to notice."""
    primary, affected = await _primary_of_a_table(installation, random)
    primary.pause()
    return ActiveFault(affected, partial(asyncio.to_thread, primary.resume))


async def kill_replica(installation: Installation, random: Random) -> ActiveFault:
    primary, affected = await _primary_of_a_table(installation, random)
    cluster = _cluster(installation)
    replica = await asyncio.to_thread(cluster.replica_of, primary)
    await asyncio.to_thread(replica.kill)
    return ActiveFault(affected, partial(asyncio.to_thread, _bring_back, cluster, replica))


def _bring_back(cluster: Cluster, replica: ClusterNode) -> None:
    replica.restart()
    cluster.wait_until_in_step()


async def hang_replica(installation: Installation, random: Random) -> ActiveFault:
    """Pause a replica: moves must wait until the replica confirms them."""
    primary, affected = await _primary_of_a_table(installation, random)
    replica = await asyncio.to_thread(_cluster(installation).replica_of, primary)
    replica.pause()
    return ActiveFault(affected, partial(asyncio.to_thread, replica.resume))


async def flush_functions(installation: Installation, random: Random) -> ActiveFault:
    cluster = _cluster(installation)
    await asyncio.to_thread(cluster.wait_until_in_step)
    await asyncio.to_thread(cluster.flush_functions)
    return ActiveFault(installation.players)


async def kill_clients(installation: Installation, random: Random) -> ActiveFault:
    """Let a primary close all its client connections."""
    primary, affected = await _primary_of_a_table(installation, random)
    kind = random.choice(["normal", "pubsub"])
    await asyncio.to_thread(primary.ask, "CLIENT", "KILL", "TYPE", kind)
    return ActiveFault(affected)


FAILOVERS = (
    Fault(
        name="primary killed",
        part="store",
        inject=kill_primary,
        by_pause=True,
        limit=BACK_AFTER_A_PRIMARY,
    ),
    Fault(
        name="primary hung until replaced",
        part="store",
        inject=hang_primary_until_replaced,
        by_pause=True,
        limit=BACK_AFTER_A_PRIMARY,
    ),
    Fault(
        name="failover by agreement",
        part="store",
        inject=fail_over,
        by_pause=True,
        limit=BACK_AFTER_A_PRIMARY,
    ),
    Fault(
        name="failover by force",
        part="store",
        inject=take_over,
        by_pause=True,
        limit=BACK_AFTER_A_PRIMARY,
    ),
)

CLUSTER_FAULTS = (
    *FAILOVERS,
    Fault(name="primary hung", part="store", inject=hang_primary, hold=(0.2, 0.8), from_heal=True),
    Fault(
        name="replica killed", part="store", inject=kill_replica, hold=(0.0, 0.5), from_heal=True
    ),
    Fault(name="replica hung", part="store", inject=hang_replica, hold=(0.2, 1.5), from_heal=True),
    Fault(name="Functions flushed", part="store", inject=flush_functions),
    Fault(name="connections closed by the store", part="store", inject=kill_clients),
)
