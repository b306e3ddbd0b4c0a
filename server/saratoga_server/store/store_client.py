"""Commands and Function calls through redis-py, for everything but commits and subscriptions.

After a transient error each is sent again. So only calls that are safe to repeat may be made.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from typing import Any, Final, TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.clients import (
    STORE_TIMEOUT,
    Primary,
    confirmation_commands,
    is_confirmed,
)
from saratoga_server.store.errors import is_function_missing, is_transient
from saratoga_server.store.guard import StoreGuard
from saratoga_server.store.library import SOURCE, function_name
from saratoga_server.store.save import Save

_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.25
"""The longest pause, in seconds, between two attempts of a call."""
_NO_ANSWER: Final = "the store does not answer"
_SCAN: Final = 1_000
"""Keys visited in one step of SCAN."""

Part = str | bytes | int | float
Answer = Any
"""A reply from redis-py: bytes, numbers, lists of them, or None."""

T = TypeVar("T")


class StoreClient:
    """A client of the store that retries while the store restarts or fails over."""

    def __init__(self, primary: Primary, guard: StoreGuard | None = None) -> None:
        """While the guard refuses the store, no call is sent: the data may be another store's."""
        self.primary = primary
        self._guard = guard

    async def command(self, *parts: Part) -> Answer:
        """Send one command that only reads, or need not be durable; return the reply."""
        return await self._with_retries(lambda: self.primary.client.execute_command(*parts))

    async def commands(self, parts: Sequence[tuple[str | bytes | int, ...]]) -> list[Answer]:
        """Send several commands that only read, in one pipeline; return the replies in order."""

        async def send() -> list[Answer]:
            pipeline = self.primary.client.pipeline(transaction=False)
            for each in parts:
                pipeline.execute_command(*each)
            return list(await pipeline.execute())

        return await self._with_retries(send) if parts else []

    async def read(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function that only reads, or need not be durable; return the reply."""
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        return await self._with_retries(lambda: self._call(parts))

    async def write(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function; its writes are durable when this returns."""
        return await self.durable("FCALL", function_name(function), len(keys), *keys, *args)

    async def save(self, save: Save) -> Hashable | None:
        """Write what a `Save` has; return `None`, or the reason of the guard that does not hold."""
        if self._guard is not None:
            self._guard.note_write()
        return save.reason(await self.write("save", (), *save.packed()))

    async def durable(self, *parts: str | bytes | int) -> Answer:
        """Send a command; what it wrote, and the data that it found, are durable when this returns.

        Needed for data shown to a player as stored: another write may not be on a replica.
        """
        call = self._call_replicated if self.primary.confirmations else self._call
        return await self._with_retries(lambda: call(parts))

    async def scan(self, pattern: str, kind: str) -> AsyncIterator[str]:
        """Yield the keys of a type that match a pattern; a key may be repeated, or damaged."""
        cursor = 0
        while True:
            parts = ("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN, "TYPE", kind)
            found_at, found = await self.command(*parts)
            for key in found:
                yield key.decode(errors="replace")
            cursor = int(found_at)
            if cursor == 0:
                break

    async def load_library(self) -> None:
        """Load our Functions into the store."""
        await self._with_retries(lambda: load_into(self.primary))

    async def _with_retries(self, send: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `send`, tried for `STORE_TIMEOUT`. Raises `StoreUnavailable`."""
        pause, reason = _FIRST_PAUSE, f"{_NO_ANSWER}: no reply in time"
        try:
            async with asyncio.timeout(STORE_TIMEOUT):
                while True:
                    try:
                        if self._guard is not None:
                            await self._guard.admit()
                        return await send()
                    except StoreUnavailable as refused:
                        reason = str(refused)
                    except (RedisConnectionError, RedisTimeoutError) as error:
                        reason = f"{_NO_ANSWER}: {error}"
                    except ResponseError as error:
                        if not is_transient(error):
                            raise
                        reason = f"{_NO_ANSWER}: {error}"
                    await self.primary.forget_idle()
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        except TimeoutError as error:
            raise StoreUnavailable(reason) from error

    async def _call(self, parts: tuple[Part, ...]) -> Answer:
        try:
            return await self.primary.client.execute_command(*parts)
        except ResponseError as error:
            if not is_function_missing(error):
                raise
        await load_into(self.primary)
        return await self.primary.client.execute_command(*parts)

    async def _call_replicated(self, parts: tuple[Part, ...]) -> Answer:
        pipeline = self.primary.client.pipeline(transaction=False)
        pipeline.execute_command(*parts)
        for command in confirmation_commands(self.primary.confirmations):
            pipeline.execute_command(*command)
        answer, *replies = await pipeline.execute(raise_on_error=False)
        if isinstance(answer, ResponseError):
            if is_function_missing(answer):
                await load_into(self.primary)
                raise StoreUnavailable("the store had lost our Functions, which are there again")
            raise answer
        if not is_confirmed(replies, self.primary.confirmations):
            raise StoreUnavailable("too few replicas confirmed the write")
        return answer


async def load_into(primary: Primary) -> None:
    """Load our Functions into a store, without retries.

    The store writes this command to its append-only file and flushes the file before it answers. So loading
    the Functions on every new connection for commits also puts on the disk what an earlier run of the store
    has written and not flushed. Without it, a restarted store could acknowledge new moves while older ones,
    which it has read from the system's memory, are lost in a power cut. Do not skip it when the Functions exist.
    """
    await primary.client.execute_command("FUNCTION", "LOAD", "REPLACE", SOURCE)
