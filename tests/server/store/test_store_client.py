"""Calls to a store: dropped Functions are loaded again, and a call fails within a bounded time."""

import asyncio

import pytest

from kit.running_race import running_race
from kit.stores import StoreServer
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.opening import open_store


async def test_functions_that_were_dropped_are_loaded_again(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store:
        assert store_server.ask("FUNCTION", "FLUSH", "SYNC") == b"+OK"
        await running_race(store)
        assert store_server.ask_all("FUNCTION", "LIST") != b"*0\r\n"


async def test_several_commands_are_answered_in_their_order(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store:
        await store.client.command("SET", "one", "1")
        found = await store.client.commands([("GET", "two"), ("GET", "one"), ("EXISTS", "one")])
        assert found == [None, b"1", 1]
        assert await store.client.commands([]) == []


async def test_a_scan_finds_the_keys_of_a_type(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store:
        await store.client.command("SET", "a:1", "x")
        await store.client.command("SADD", "a:2", "x")
        assert {key async for key in store.client.scan("a:*", "string")} == {"a:1"}


async def test_a_command_waits_for_a_store_that_restarts(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store:
        await store.client.command("SET", "key", "kept")
        mortal_store.kill()
        asked = asyncio.create_task(store.client.command("GET", "key"))
        await asyncio.sleep(0)
        mortal_store.start()
        assert await asked == b"kept"


async def test_a_store_that_stays_away_is_unavailable(
    mortal_store: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(mortal_store.url) as store:
        mortal_store.kill()
        monkeypatch.setattr("saratoga_server.store.store_client.STORE_TIMEOUT", 0.1)
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await store.client.command("GET", "key")
        mortal_store.start()
