"""A key of a wrong type, or an argument that is no number, is an error of a sweep."""

from collections.abc import AsyncIterator

import pytest
from redis.exceptions import ResponseError

from kit.stores import StoreServer
from saratoga_server.store.opening import Store, open_store


@pytest.fixture
async def real(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("due_tables", ("soon", 10, 10)),
        ("due_tables", (0, 10, 10)),
        ("sweep", ("soon", 10, 1, 1, 1)),
        ("sweep", (0, 10, 10**14, 1, 1)),
    ],
)
async def test_an_error_of_a_sweep_is_raised(
    real: Store, function: str, arguments: tuple[str | int, ...]
) -> None:
    for key in ("due", "expiring"):
        await real.client.command("SET", key, "no sorted set")
    with pytest.raises(ResponseError):
        await real.client.read(function, (), *arguments)
