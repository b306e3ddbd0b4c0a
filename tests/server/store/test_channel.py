"""Nudges reach every node that listens, and again after the store was gone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.stores import StoreServer
from saratoga_server.nudges import CHANNEL, Announce, Banned, Nudge
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.channel import listen, publish
from saratoga_server.store.connection import open_store
from saratoga_server.table import Refusal

WITHIN = 20.0
"""Seconds: a bound for what is awaited, never a measure."""


class Listener:
    """Collects what a node hears."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[Nudge] = asyncio.Queue()
        self.open: asyncio.Queue[None] = asyncio.Queue()
        self.faults: list[Exception] = []
        """What goes wrong with the nudges to come."""

    async def on_nudge(self, nudge: Nudge) -> None:
        if self.faults:
            raise self.faults.pop()
        self.heard.put_nowait(nudge)

    def on_listening(self) -> None:
        self.open.put_nowait(None)

    async def is_open(self) -> None:
        await asyncio.wait_for(self.open.get(), WITHIN)

    async def next(self) -> Nudge:
        return await asyncio.wait_for(self.heard.get(), WITHIN)


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[Listener]:
    listener = Listener()
    task = asyncio.create_task(listen(url, listener.on_nudge, listener.on_listening))
    try:
        await listener.is_open()
        yield listener
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_every_node_that_listens_hears_a_nudge(store_server: StoreServer) -> None:
    async with (
        open_store(store_server.url) as store,
        listening(store_server.url) as east,
        listening(store_server.url) as west,
    ):
        assert await publish(store.link, Announce("Zoë says hello.")) == 2
        assert [await east.next(), await west.next()] == [Announce("Zoë says hello.")] * 2


async def test_where_nobody_listens_nobody_hears(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store:
        assert await publish(store.link, Announce("hello")) == 0


async def test_junk_on_the_channel_does_not_stop_the_listening(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store, listening(store_server.url) as node:
        await store.link.command("PUBLISH", CHANNEL, b"\xc1junk")
        await publish(store.link, Banned("p" * 16))
        assert await node.next() == Banned("p" * 16)


@pytest.mark.parametrize(
    "fault", [StoreUnavailable("no answer"), Refusal("no_such_table"), ValueError("a mistake")]
)
async def test_a_nudge_that_cannot_be_obeyed_does_not_stop_the_listening(
    store_server: StoreServer, fault: Exception
) -> None:
    async with open_store(store_server.url) as store, listening(store_server.url) as node:
        node.faults.append(fault)
        await publish(store.link, Announce("first"))
        await publish(store.link, Announce("second"))
        assert await node.next() == Announce("second")
        assert node.faults == []


async def test_after_the_store_was_gone_a_node_listens_again(mortal_store: StoreServer) -> None:
    async with listening(mortal_store.url) as node:
        mortal_store.kill()
        mortal_store.start()
        await node.is_open()
        async with open_store(mortal_store.url) as store:
            await publish(store.link, Announce("back"))
            assert await node.next() == Announce("back")
