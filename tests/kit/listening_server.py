"""A server in the test's own process that listens on a port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from kit.in_process_server import PROGRAM
from kit.stores import StoreServer
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_server.cancellation import cancel_all
from saratoga_server.metrics import Metrics
from saratoga_server.node import Node
from saratoga_server.store.opening import Store, open_store
from saratoga_server.transport.gateway import Gateway, GatewaySettings
from saratoga_server.transport.http_api import HttpPages


@dataclass(frozen=True, slots=True)
class ListeningServer:
    """A server that players can connect to."""

    node: Node
    gateway: Gateway
    port: int

    @property
    def url(self) -> str:
        """Return the address for players."""
        return f"ws://127.0.0.1:{self.port}"


@asynccontextmanager
async def listening_server(store: Store) -> AsyncIterator[ListeningServer]:
    """Run a server without rate limits and without the page on this store."""
    metrics = Metrics()
    node = await Node.opened(store, "node", PROGRAM, metrics, deal=deal_for_key)
    settings = GatewaySettings(host="127.0.0.1", port=0, rate=0, burst=100)
    gateway = Gateway(node.dispatcher, settings, HttpPages(node, None), metrics)
    opened = ListeningServer(node, gateway, await gateway.open())
    duties = [
        asyncio.create_task(node.scheduler.run()),
        asyncio.create_task(gateway.watch()),
    ]
    try:
        yield opened
    finally:
        await gateway.close()
        await node.stop()
        faults = await cancel_all(duties)
    assert faults == []


@pytest.fixture
async def valkey(store_servers: dict[str, StoreServer]) -> AsyncIterator[Store]:
    """An empty, opened Valkey."""
    server = store_servers["valkey"]
    server.empty()
    async with open_store(server.url) as opened:
        yield opened
