"""A store as it is found, for whoever copies it: fit for a house or not, and nothing is put into it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.addresses import addresses
from saratoga_server.store.clients import open_client
from saratoga_server.store.primaries import Primaries, open_primaries

ANSWER_WITHIN: Final = 2.0
"""Seconds."""


class BareStore(Struct, frozen=True):
    """What runs at an address."""

    primaries: Primaries
    product: str
    """`Redis` or `Valkey`."""
    version: str


@asynccontextmanager
async def open_bare_store(url: str) -> AsyncIterator[BareStore]:
    """Connect to a store, or to a cluster by some of its nodes; close when left.

    Raises `StoreUnavailable` if nobody answers, `StoreRefused` if who answers does not let us in.
    """
    info = await _told(url)
    is_cluster = str(info.get("cluster_enabled")) == "1"
    primaries = await open_primaries(url, is_cluster=is_cluster)
    product = "Valkey" if "valkey_version" in info else "Redis"
    try:
        yield BareStore(primaries, product, str(info.get(f"{product.lower()}_version")))
    finally:
        await primaries.close()
        # a socket is closed a turn of the loop after its transport
        await asyncio.sleep(0)


async def _told(url: str) -> Mapping[str, object]:
    """What the first that answers says of itself."""
    trouble: Exception | None = None
    for address in addresses(url):
        client = open_client(address, tries=0)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                info: Mapping[str, object] = await client.info("server", "cluster")
            return info
        except (RedisConnectionError, OSError, TimeoutError) as error:
            trouble = error
        except RedisError as error:
            raise StoreRefused(f"The store answers, but not to us: {error}.") from error
        finally:
            await client.aclose(close_connection_pool=True)
            await asyncio.sleep(0)
    raise StoreUnavailable(f"the store does not answer: {trouble}") from trouble
