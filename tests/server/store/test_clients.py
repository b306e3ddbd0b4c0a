"""redis-py clients: replies as bytes, and an immediate error when the store is gone."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from kit.stores import StoreServer
from saratoga_server.store.clients import open_client


async def test_replies_are_bytes_and_the_client_has_a_name(store_server: StoreServer) -> None:
    client = open_client(store_server.url)
    try:
        await client.set("key", "ä")
        assert await client.get("key") == "ä".encode()
        assert await client.execute_command("CLIENT", "GETNAME") == b"saratoga"
    finally:
        await client.aclose()


async def test_a_command_to_a_store_that_is_gone_is_not_repeated(mortal_store: StoreServer) -> None:
    client = open_client(mortal_store.url)
    try:
        await client.ping()
        mortal_store.kill()
        with pytest.raises(RedisConnectionError):
            await client.ping()
    finally:
        await client.aclose()
