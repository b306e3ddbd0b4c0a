"""redis-py clients of one store process, with a bounded pool, timeouts, no retries, replies as bytes."""

from typing import Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from saratoga_server.store.dial import CLIENT_NAME
from saratoga_server.store_timeout import STORE_TIMEOUT

CONNECT_TIMEOUT: Final = 2.0
"""Seconds in which a connection must be made."""
REPLY_TIMEOUT: Final = 2.0
"""Seconds without a reply after which a connection counts as dead."""
POOL_SIZE: Final = 32


def open_client(url: str) -> "Redis":
    """Return a client of the store process at that address."""
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        url,
        max_connections=POOL_SIZE,
        timeout=STORE_TIMEOUT,
        decode_responses=False,
        protocol=2,
        socket_timeout=REPLY_TIMEOUT,
        socket_connect_timeout=CONNECT_TIMEOUT,
        retry=Retry(NoBackoff(), 0),
        client_name=CLIENT_NAME,
        driver_info=None,  # or redis-py reads its version from disk for every connection
    )
    return Redis.from_pool(pool)
