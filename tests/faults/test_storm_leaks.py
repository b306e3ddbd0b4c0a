"""The search for leaks after a storm passes an installation without leaks, and describes every leak."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from redis import Redis

from kit import quick_countdown
from kit.storms.footprints import clients_of, keys_left_over, nodes_known
from kit.storms.installation import Installation, open_installation
from kit.storms.leaks import FOR_COMMITS, FOR_EVENTS, held, leaks_of, pool_of
from saratoga_server.store.nodes import ALIVE_FOR

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Deserted:
    """An installation from which all players have disconnected."""

    installation: Installation
    client: Any
    """A connection to the store that bypasses the server."""

    async def leaks(self) -> list[str]:
        return await asyncio.to_thread(held, self.installation, [self.client])

    def connected_client(self, stack: ExitStack) -> Any:
        """Open another connection to the store."""
        assert self.installation.standalone is not None
        socket = self.installation.standalone.socket
        client: Any = stack.enter_context(Redis(unix_socket_path=str(socket)))
        client.ping()
        return client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deserted() -> AsyncIterator[Deserted]:
    with ExitStack() as stack:
        async with open_installation(
            ["lafayette"], nodes=1, pace=60, module=quick_countdown.MODULE
        ) as installation:
            await installation.stop_racing()
            assert await leaks_of(installation) == []
            found = Deserted(installation, None)
            found.client = found.connected_client(stack)
            assert await found.leaks() == []
            yield found


async def test_a_connection_that_stays_is_described(deserted: Deserted) -> None:
    [node] = deserted.installation.nodes
    _, writer = await asyncio.open_connection("127.0.0.1", node.port)
    try:
        leaks = await deserted.leaks()
        assert f"node {node.port} has 1 connections after all players left" in leaks
    finally:
        writer.close()
        await writer.wait_closed()


async def test_store_connections_that_no_node_needs_are_described(deserted: Deserted) -> None:
    installation, client = deserted.installation, deserted.client
    most = pool_of(installation) + FOR_COMMITS + FOR_EVENTS
    with ExitStack() as stack:
        while clients_of(client) <= most:
            deserted.connected_client(stack)
        leaks = await deserted.leaks()
    assert f"the store has {most + 1} clients, at most {most}" in leaks


async def test_a_subscription_that_stays_is_described(deserted: Deserted) -> None:
    with deserted.client.pubsub() as pubsub:
        pubsub.subscribe("events")
        assert pubsub.get_message(timeout=5) is not None
        leaks = await deserted.leaks()
    assert "the store has 2 subscribed clients, of 1 nodes" in leaks


async def test_a_lost_node_and_its_mark_from_another_time_are_described(
    deserted: Deserted,
) -> None:
    """A node that died before the store's clock was stepped back is not counted."""
    client = deserted.client
    client.set("node:long-dead", 1, px=ALIVE_FOR + 60_000)
    assert nodes_known(client) == 1
    client.set("node:dead", 1, px=ALIVE_FOR)
    leaks = await deserted.leaks()
    client.delete("node:long-dead", "node:dead")
    assert "the store lists 2 nodes, and 1 run" in leaks


async def test_keys_that_belong_to_nothing_or_never_expire_are_described(
    deserted: Deserted,
) -> None:
    client = deserted.client
    assert list(keys_left_over(client)) == []
    client.zadd("{p1}:due", {"calm-fox-11": 5})
    client.set("{p2}:table:calm-fox-11:race:1", "x", px=60_000)
    client.set("{p3}:table:kind-owl-12", "x")
    client.rpush("{p4}:unread:outbox", "x")
    assert set(keys_left_over(client)) == {
        "{p1}:due names calm-fox-11, which does not exist",
        "{p2}:table:calm-fox-11:race:1 has no table",
        "{p2}:table:calm-fox-11:race:1 has a TTL, so a wrong clock of the store deletes it",
        "{p3}:table:kind-owl-12 is never deleted",
        "{p4}:unread:outbox has unsettled results",
    }
