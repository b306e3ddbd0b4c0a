"""Retention: deletes what was kept long enough (`keys.py`), while the clocks can be trusted."""

from saratoga_server.ports import Millis
from saratoga_server.retention_port import Swept
from saratoga_server.store.keys import CLOCK_JUMP, CLOCKS_WITHIN, UNTRUSTED_FOR
from saratoga_server.store.store_client import StoreClient


class RedisRetention:
    """The adapter of the port `RetentionStore`."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def sweep(self, node_time: Millis, limit: int) -> Swept:
        done, held, ahead = await self._client.read(
            "sweep", (), node_time, limit, CLOCKS_WITHIN, CLOCK_JUMP, UNTRUSTED_FOR
        )
        return Swept(
            done=done,
            held_until=Millis(held),
            ahead=ahead,
            clocks_differ=abs(ahead) > CLOCKS_WITHIN,
        )
