"""The news reach every node that listens, and what a cut connection missed is known to be missed."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kit.ears import listening
from kit.fake_store import FakeStore
from kit.store_ways import store_way
from kit.stores import StoreServer, calm
from kit.tables import ANN, CODE, seated
from saratoga_rules.standing import Reached, State
from saratoga_server.domain.tables import pack
from saratoga_server.messages.node_events import (
    Announce,
    Here,
    Renamed,
    Stood,
    Touched,
)
from saratoga_server.ports import LiveStanding, StoreUnavailable, TableWrite
from saratoga_server.store.event_channel import PARTITION_CHANNELS
from saratoga_server.store.keys import partition
from saratoga_server.store.opening import Store, open_store

AnyStore = Store | FakeStore


@pytest.fixture
async def valkey(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@calm
async def test_every_node_that_listens_hears_a_nudge(store: AnyStore) -> None:
    async with listening(store.events, "east") as east:
        assert store.events.is_listening
        assert await store.events.publish(Announce("Zoë says hello.")) == 1
        await east.hears(Announce("Zoë says hello."))
    assert await store.events.publish(Announce("hello")) == 0


@calm
async def test_a_table_that_is_changed_tells_of_it_by_itself(store: AnyStore) -> None:
    async with listening(store.events, "east") as east:
        write = TableWrite(code=CODE, expected=0, body=pack(seated(ANN)), due=None)
        assert await store.tables.save_table(write)
        await east.hears(Touched(CODE, 1))
        assert not await store.tables.save_table(write)
    assert east.heard.count(Touched(CODE, 1)) == 1


@calm
async def test_where_racers_stand_is_told_whole(store: AnyStore) -> None:
    races = {
        f"{CODE}/1": {ANN: LiveStanding(7, 3, State.RACING, Reached(1200, 9))},
        "odd-emu-11/2": {ANN: LiveStanding(1, 0, State.LEFT)},
    }
    async with listening(store.events, "east") as east:
        assert await store.events.publish_standings("west", races) == frozenset()
        await east.hears(Stood("west", races))


async def test_nodes_hear_of_each_other(store_server: StoreServer) -> None:
    async with (
        open_store(store_server.url) as one,
        open_store(store_server.url) as other,
        listening(one.events, "east") as east,
        listening(other.events, "west") as west,
    ):
        await east.hears(Here("west", 1))
        await east.until(lambda: east.nodes == 2)
        await west.until(lambda: west.nodes == 2)
        assert Here("east", 1) not in west.heard
        assert not [event for event in east.heard if event == Here("east", 2)]


@pytest.mark.parametrize("junk", [b"\xc1junk", b"", b"\x81\xa4kind\xa4brew"])
async def test_junk_on_the_channel_does_not_stop_the_listening(valkey: Store, junk: bytes) -> None:
    async with listening(valkey.events, "east") as east:
        await valkey.client.command("SPUBLISH", PARTITION_CHANNELS[partition(CODE)], junk)
        await valkey.events.publish(Renamed("p" * 16, "Zoë"))
        await east.hears(Renamed("p" * 16, "Zoë"))
        assert east.openings == 1


async def test_a_nudge_that_goes_wrong_does_not_stop_the_listening(valkey: Store) -> None:
    async with listening(valkey.events, "east") as east:
        east.faults.append(ValueError("a mistake"))
        await valkey.events.publish(Announce("first"))
        await valkey.events.publish(Announce("second"))
        await east.hears(Announce("second"))
        assert east.faults == []
        assert east.openings == 1


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_a_look_that_takes_long_or_goes_wrong_is_no_fault_of_the_line(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store, listening(store.events, "east") as east:
        east.looks = asyncio.Event()
        mortal_store.kill()
        mortal_store.start()
        await east.until(lambda: east.openings == 2)
        for _ in range(2):
            assert store.events.is_listening
            heard = len(east.heard)
            await store.events.publish(Announce(f"after {heard}"))
            await east.hears(Announce(f"after {heard}"))
            east.looks.set()
            # a nudge of one's own comes round: the line was kept up after the look as well
            probes = east.probes
            await east.until(lambda probes=probes: east.probes > probes)  # type: ignore[misc]
        assert east.openings == 2


async def test_after_the_store_was_gone_a_node_listens_again_and_knows_it(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store, listening(store.events, "east") as east:
        mortal_store.kill()
        mortal_store.start()
        await east.until(lambda: east.openings == 2)
        await store.events.publish(Announce("back"))
        await east.hears(Announce("back"))


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_a_store_that_hung_is_listened_to_again(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store, listening(store.events, "east") as east:
        mortal_store.pause()
        with pytest.raises(StoreUnavailable):
            await store.events.publish(Announce("into the void"))
        assert not store.events.is_listening
        mortal_store.resume()
        await east.until(lambda: east.openings == 2)
        await store.events.publish(Announce("back"))
        await east.hears(Announce("back"))


@pytest.mark.parametrize("store_server", ["valkey"], indirect=True)
async def test_connections_that_swallow_everything_are_found_out(store_server: StoreServer) -> None:
    """Half-open: nobody says so, and nothing comes any more."""
    async with (
        store_way(store_server.socket, store_server.folder / "way") as way,
        open_store(way.url) as near,
        open_store(store_server.url) as far,
        listening(near.events, "east") as east,
    ):
        way.go_dead()
        await far.events.publish(Announce("unheard"))
        await east.until(lambda: east.openings == 2)
        await far.events.publish(Announce("hello"))
        await east.hears(Announce("hello"))
    assert Announce("unheard") not in east.heard


async def test_a_connection_that_is_cut_is_made_anew(store_server: StoreServer) -> None:
    async with (
        store_way(store_server.socket, store_server.folder / "way") as way,
        open_store(way.url) as near,
        listening(near.events, "east") as east,
    ):
        way.cut()
        await east.until(lambda: east.openings == 2)
        way.cut()
        await east.until(lambda: east.openings == 3)
