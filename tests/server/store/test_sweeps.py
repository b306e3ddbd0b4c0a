"""Sweeps over all partitions while a key has a wrong type."""

from collections.abc import AsyncIterator

import pytest
from redis.exceptions import ResponseError

from kit.stores import StoreServer
from saratoga_server.store.keys import DUE_KEYS, EXPIRING_KEYS, OUTBOX_KEYS, due_key, outbox_key
from saratoga_server.store.opening import Store, open_store


@pytest.fixture
async def real(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("function", "keys", "arguments"),
    [
        ("peek_outbox", OUTBOX_KEYS, ("many", 0)),
        ("peek_outbox", OUTBOX_KEYS, (10, 0)),
        ("peek_outbox", OUTBOX_KEYS, (10, 1)),
        ("due_tables", DUE_KEYS, ("soon", 10, 10)),
        ("due_tables", DUE_KEYS, (0, 10, 10)),
        ("sweep", EXPIRING_KEYS, ("soon", 10, 1, 1, 1)),
        ("sweep", EXPIRING_KEYS, (0, 10, 10**14, 1, 1)),
    ],
)
async def test_any_other_error_of_a_sweep_is_raised(
    real: Store, function: str, keys: tuple[str, ...], arguments: tuple[str | int, ...]
) -> None:
    if all(isinstance(each, int) for each in arguments):
        for key in (outbox_key(7), due_key(7), EXPIRING_KEYS[7]):
            await real.client.command("SET", key, "neither a list nor a sorted set")
    with pytest.raises(ResponseError):
        await real.client.read(function, (), *arguments, *keys)
