"""Everything of one store, made again in another, whichever two products they are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from kit.stores import StoreServer
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client
from saratoga_server.store.copying import PIECE, copy_all
from saratoga_server.store.primaries import open_primaries

FAR = 4_000_000_000_000
"""Milliseconds: a moment that comes after every test."""


@asynccontextmanager
async def client_of(store: StoreServer) -> AsyncIterator["Redis"]:
    client = open_client(store.url)
    try:
        yield client
    finally:
        await client.aclose(close_connection_pool=True)
        await asyncio.sleep(0)  # sockets are closed a turn of the loop after their transports


async def held(client: "Redis") -> dict[bytes, tuple[Any, int]]:
    """Every key with its value and its end."""
    readers: dict[bytes, tuple[str, ...]] = {
        b"string": ("GET",),
        b"hash": ("HGETALL",),
        b"list": ("LRANGE", "0", "-1"),
        b"set": ("SMEMBERS",),
        b"zset": ("ZRANGE", "0", "-1", "WITHSCORES"),
    }
    found = {}
    keys: list[bytes] = await client.execute_command("KEYS", "*")
    for key in keys:
        command, *more = readers[await client.execute_command("TYPE", key)]
        value = await client.execute_command(command, key, *more)
        if command == "ZRANGE":  # two products write one number in two ways
            value = [*value[::2], *map(float, value[1::2])]
        found[key] = value, int(await client.execute_command("PEXPIRETIME", key))
    return found


async def copied(source: StoreServer, target: StoreServer) -> int:
    primaries = await open_primaries(target.url)
    try:
        async with client_of(source) as client:
            return await copy_all(client, primaries)
    finally:
        await primaries.close()
        await asyncio.sleep(0)


async def test_what_is_copied_is_the_same(
    store_server: StoreServer, mortal_store: StoreServer
) -> None:
    async with client_of(store_server) as source, client_of(mortal_store) as target:
        await source.set(b"binary\x00\xff", bytes(range(256)))
        await source.set("ends", "1", pxat=FAR)
        await source.hset("hash", mapping={b"\x00": b"\xff", "body": "x" * 70_000})
        await source.rpush("list", *(f"move {n}" for n in range(2 * PIECE + 1)))
        await source.sadd("set", "canfield", "caprice")
        await source.zadd("zset", {"a": 2.0**53 - 1, "b": -0.1, "c": 1 / 3, "d": float("inf")})
        await source.hset("long", mapping={f"f{n}": n for n in range(PIECE)})
        assert await copied(store_server, mortal_store) == 7
        assert await held(target) == await held(source)


async def test_an_empty_store_is_copied_too(
    store_server: StoreServer, mortal_store: StoreServer
) -> None:
    assert await copied(store_server, mortal_store) == 0


async def test_what_no_house_writes_is_not_ours(
    store_server: StoreServer, mortal_store: StoreServer
) -> None:
    store_server.ask("XADD", "stream", "*", "a", "b")
    with pytest.raises(StoreRefused, match="is a stream"):
        await copied(store_server, mortal_store)
