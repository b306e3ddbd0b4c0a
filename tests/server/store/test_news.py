"""Events reach every node that listens, and a node notices when it may have missed some."""

import asyncio
from collections.abc import AsyncIterator

import msgpack
import pytest

from kit.event_recorder import WITHIN, recording
from kit.faulty_link import link_to_store
from kit.stores import StoreServer, calm
from saratoga_server.messages.node_events import (
    Announce,
)
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.keys import NEWS
from saratoga_server.store.opening import Store, open_store

AnyStore = Store


@pytest.fixture
async def valkey(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@calm
async def test_every_node_that_listens_hears_an_event(store: AnyStore) -> None:
    async with recording(store.events, "east") as east:
        assert store.events.is_listening
        assert await store.events.publish(Announce("Zoë says hello.")) == 1
        await east.receives(Announce("Zoë says hello."))
    async with asyncio.timeout(WITHIN):  # the store learns of a closed connection a little later
        while await store.events.publish(Announce("hello")):
            pass


@pytest.mark.parametrize(
    "junk",
    [
        *(b"\xc1junk", b"", b"\x81\xa4kind\xa4brew", b"\x91" * 100_000),
        msgpack.packb({"kind": "brew", "tea": True}),
        msgpack.packb({"kind": "player", "player": 7}),
        msgpack.packb({"kind": "announce", "text": b"\xff"}),
    ],
)
async def test_junk_on_the_channel_does_not_end_the_subscription(
    valkey: Store, junk: bytes
) -> None:
    async with recording(valkey.events, "east") as east:
        await valkey.client.command("PUBLISH", NEWS, junk)
        await valkey.events.publish(Announce("Zoë"))
        await east.receives(Announce("Zoë"))
        assert east.subscriptions == 1


async def test_an_event_whose_handling_fails_does_not_end_the_subscription(valkey: Store) -> None:
    async with recording(valkey.events, "east") as east:
        east.faults.append(ValueError("a mistake"))
        await valkey.events.publish(Announce("first"))
        await valkey.events.publish(Announce("second"))
        await east.receives(Announce("second"))
        assert east.faults == []
        assert east.subscriptions == 1


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_a_slow_or_failing_catch_up_does_not_end_the_subscription(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store, recording(store.events, "east") as east:
        east.catch_up = asyncio.Event()
        mortal_store.kill()
        mortal_store.start()
        await east.until(lambda: east.subscriptions == 2)
        for _ in range(2):
            assert store.events.is_listening
            heard = len(east.events)
            await store.events.publish(Announce(f"after {heard}"))
            await east.receives(Announce(f"after {heard}"))
            east.catch_up.set()
        assert east.subscriptions == 2


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_a_store_that_hung_is_subscribed_to_again(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store, recording(store.events, "east") as east:
        mortal_store.pause()
        with pytest.raises(StoreUnavailable):
            await store.events.publish(Announce("into the void"))
        assert not store.events.is_listening
        mortal_store.resume()
        await east.until(lambda: east.subscriptions == 2)
        await store.events.publish(Announce("back"))
        await east.receives(Announce("back"))


@pytest.mark.parametrize("store_server", ["valkey"], indirect=True)
async def test_half_open_connections_are_replaced(store_server: StoreServer) -> None:
    """A half-open connection reports no error, and nothing arrives."""
    async with (
        link_to_store(store_server.socket, store_server.folder / "link") as link,
        open_store(link.url) as near,
        open_store(store_server.url) as far,
        recording(near.events, "east") as east,
    ):
        link.go_half_open()
        await far.events.publish(Announce("unheard"))
        await east.until(lambda: east.subscriptions == 2)
        await far.events.publish(Announce("hello"))
        await east.receives(Announce("hello"))
    assert Announce("unheard") not in east.events
