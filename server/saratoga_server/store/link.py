"""The house's shared way to its store: commands and Function calls through redis-py.

For everything but the commits of moves, which have a connection of their own (`commits.py`).
redis-py sends a command again when the reply got lost; whatever is called here is repeat-safe.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.clients import PATIENCE, open_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.library import SOURCE, function_name
from saratoga_server.store.primaries import Primaries
from saratoga_server.store.trouble import is_function_missing, passes

REPLICA_TIMEOUT: Final = 1_000
"""Milliseconds that WAIT waits for a replica before the call is tried again."""
REPLICA_MARK: Final = "replicated"
"""A key written before each WAIT: without a write of this connection's own, WAIT says nothing."""

_PAUSE: Final = 0.05
"""Seconds between tries after an error reply that passes."""
Answer = Any
"""A reply as redis-py hands it out: bytes, numbers, lists of them, or None."""

T = TypeVar("T")


class Link:
    """Commands and Function calls, with patience for a store that restarts."""

    def __init__(self, primaries: Primaries, durability: Durability) -> None:
        self.primaries = primaries
        self._client = primaries.all()[0].client
        self._durability = durability

    async def command(self, *parts: str | bytes | int | float) -> Answer:
        """Send one command that only reads, or whose effect need not be durable."""
        return await self.patiently(lambda: self._client.execute_command(*parts))

    async def commands(self, parts: Sequence[tuple[str | bytes | int, ...]]) -> list[Answer]:
        """Send several commands that only read, in one go."""
        if not parts:
            return []

        async def send() -> list[Answer]:
            pipeline = self._client.pipeline(transaction=False)
            for each in parts:
                pipeline.execute_command(*each)
            return list(await pipeline.execute())

        return await self.patiently(send)

    async def read(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function that changes nothing."""
        return await self._call(function, keys, args, self._send)

    async def write(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function; what it wrote is durable when this returns."""
        if self._durability is Durability.REPLICATED:
            return await self._call(function, keys, args, self._send_replicated)
        return await self._call(function, keys, args, self._send)

    async def load_library(self) -> None:
        await self.patiently(
            lambda: self._client.execute_command("FUNCTION", "LOAD", "REPLACE", SOURCE)
        )

    async def _call(
        self,
        function: str,
        keys: Sequence[str],
        args: Sequence[str | bytes | int],
        send: Callable[[tuple[str | bytes | int, ...]], Awaitable[Answer]],
    ) -> Answer:
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        try:
            return await self.patiently(lambda: send(parts))
        except ResponseError as error:
            if not is_function_missing(error):
                raise
        await self.load_library()
        return await self.patiently(lambda: send(parts))

    async def _send(self, parts: tuple[str | bytes | int, ...]) -> Answer:
        return await self._client.execute_command(*parts)

    async def _send_replicated(self, parts: tuple[str | bytes | int, ...]) -> Answer:
        pipeline = self._client.pipeline(transaction=False)
        pipeline.execute_command(*parts)
        pipeline.execute_command("SET", REPLICA_MARK, "1")
        pipeline.execute_command("WAIT", 1, REPLICA_TIMEOUT)
        answer, _, replicas = await pipeline.execute()
        if replicas < 1:
            raise ResponseError("NOREPLICAS no replica confirmed the write")
        return answer

    async def patiently(self, send: Callable[[], Awaitable[T]]) -> T:
        """Try until it works, for `PATIENCE` at most; raise `StoreUnavailable` after that."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        return await send()
                    except ResponseError as error:
                        if not passes(error):
                            raise
                    await asyncio.sleep(_PAUSE)
        except (RedisConnectionError, RedisTimeoutError, TimeoutError) as error:
            raise StoreUnavailable(f"the store does not answer: {error}") from error


__all__ = ["Link", "RedisError", "open_client"]
