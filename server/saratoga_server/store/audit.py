"""The log of administrators' actions."""

from collections.abc import Mapping
from secrets import token_hex

from saratoga_server.store.client import StoreClient
from saratoga_server.store.keys import AUDIT, AUDIT_KEPT
from saratoga_server.store.save import pack, unpack


class AuditLog:
    """The log of administrators' actions in the store."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def append(self, act: Mapping[str, str]) -> None:
        # the random token distinguishes a repeated write from the same action carried out twice
        packed = pack((token_hex(8), dict(act)))
        await self._client.write("append_act", (AUDIT,), packed, AUDIT_KEPT)

    async def forget(self, target: str) -> None:
        """Remove the details, which may be names, from the entries about a player."""
        for packed in await self._client.command("ZRANGE", AUDIT, 0, -1):
            token, act = unpack(packed)
            if act["target"] == target and act["detail"]:
                at = await self._client.command("ZSCORE", AUDIT, packed)
                await self._client.command("ZADD", AUDIT, at, pack((token, act | {"detail": ""})))
                await self._client.command("ZREM", AUDIT, packed)

    async def read(self, limit: int) -> list[dict[str, str]]:
        if limit <= 0:
            return []
        acts = await self._client.command("ZREVRANGE", AUDIT, 0, limit - 1)
        return [unpack(act)[1] for act in acts]
