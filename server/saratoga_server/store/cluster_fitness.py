"""Whether all of a store may hold the house's state: every node of a cluster, and the replicas."""

import asyncio

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.durability import Durability
from saratoga_server.store.fitness import Fitness, check_fitness
from saratoga_server.store.primaries import Primaries, Primary

_log = EventLog("store")


async def check_replicas(
    primaries: Primaries, first: Fitness, durability: Durability, *, trust: bool = False
) -> bool:
    """Look at the rest of the store; `first` is what the node says that was asked first.

    A replica is looked at too: it may be the primary tomorrow. Raises `StoreRefused`, naming the
    node. Returns whether a replica's disk can be asked for.
    """
    found = {"": first}
    if primaries.is_cluster:
        nodes = (*primaries.all(), *primaries.replicas())
        answers = await asyncio.gather(
            *(_look(node, durability, trust=trust) for node in nodes), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        found = {
            node.name: answer
            for node, answer in zip(nodes, answers, strict=True)
            if isinstance(answer, Fitness)
        }
    if durability is not Durability.REPLICATED:
        return False
    lonely = [name for name, each in found.items() if each.is_primary and not each.replicas]
    if lonely and len(lonely) == sum(each.is_primary for each in found.values()):
        raise StoreRefused(
            "No replica is in step with the store, so at the level replicated no move could be "
            "acknowledged. Give it one (`REPLICAOF host port` there, or CLUSTER REPLICATE in a "
            "cluster), or ask for less with --durability safe."
        )
    if lonely:
        _log.warning("without_replica", primaries=" ".join(lonely))
    return all(each.knows_waitaof for each in found.values())


async def _look(node: Primary, durability: Durability, *, trust: bool) -> Fitness | None:
    """A node that is away for the moment is looked at before it gets its first move."""
    try:
        return await check_fitness(node.url, durability, trust=trust)
    except StoreUnavailable:
        return None
    except StoreRefused as refused:
        raise StoreRefused(f"{node.name}: {refused}") from None
