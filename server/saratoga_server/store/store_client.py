"""Commands and Function calls through redis-py, for everything but commits and subscriptions.

Each is sent to the primary that owns its key. After a transient error it is sent again, to another
primary if the key has moved. So only calls that are safe to repeat may be made.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.confirmations import confirmation_commands, is_confirmed
from saratoga_server.store.errors import is_function_missing, is_transient
from saratoga_server.store.guard import StoreGuard
from saratoga_server.store.keys import mark_key
from saratoga_server.store.library import SOURCE, function_name
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store_timeout import STORE_TIMEOUT

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

    def __init__(
        self,
        primaries: Primaries,
        guard: StoreGuard | None = None,
        *,
        replicated: bool = False,
        on_disk: bool = False,
    ) -> None:
        """`replicated`: a write is durable once a replica has it, `on_disk`: on its disk.

        While the guard refuses the store, no call is sent, and reads fail too: the data may be another store's.
        """
        self._primaries = primaries
        self._guard = guard
        self._replicated = replicated
        self._on_disk = on_disk

    async def command(self, *parts: Part) -> Answer:
        """Send one command that only reads, or whose effect need not be durable; return the reply.

        Its first argument, taken as a key, decides which primary receives it.
        """
        return await self._with_retries(lambda: self._owner(parts).client.execute_command(*parts))

    async def commands(self, parts: Sequence[tuple[str | bytes | int, ...]]) -> list[Answer]:
        """Send several commands that only read, one pipeline to each primary; return the replies in order."""

        async def send(primary: Primary, places: list[int]) -> dict[int, Answer]:
            pipeline = primary.client.pipeline(transaction=False)
            for place in places:
                pipeline.execute_command(*parts[place])
            return dict(zip(places, await pipeline.execute(), strict=True))

        async def send_all() -> list[Answer]:
            groups: dict[Primary, list[int]] = defaultdict(list)
            for place, each in enumerate(parts):
                groups[self._owner(each)].append(place)
            found: dict[int, Answer] = {}
            for some in await asyncio.gather(*(send(*group) for group in groups.items())):
                found |= some
            return [found[place] for place in range(len(parts))]

        return await self._with_retries(send_all) if parts else []

    async def read(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function that only reads, or whose effect need not be durable; return the reply."""
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        return await self._with_retries(lambda: self._call(self._primaries.of(keys[0]), parts))

    async def write(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function; its writes are durable when this returns."""
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        return await self._durably(keys[0], parts)

    async def read_durable(self, *parts: str | bytes | int) -> Answer:
        """Send a read command; the data that it found are durable when this returns.

        Needed for data shown to a player as stored: another node's write may not have reached a replica.
        """
        return await self._durably(str(parts[1]), parts)

    async def read_everywhere(
        self, function: str, keys: Sequence[str], *args: str | bytes | int, whole: bool = True
    ) -> list[Answer]:
        """Call a Function once on every primary, with the keys that it owns; return the replies.

        The keys are passed as arguments, because in a cluster they are in many slots. Unless the answer
        must be `whole`, primaries that fail are left out, if at least one answers.
        """

        async def call() -> list[Answer]:
            owned: dict[Primary, list[str]] = defaultdict(list)
            for key in keys:
                owned[self._primaries.of(key)].append(key)
            calls = (
                self._call(primary, ("FCALL", function_name(function), 0, *args, *own))
                for primary, own in owned.items()
            )
            answers = await asyncio.gather(*calls, return_exceptions=True)
            faults = [answer for answer in answers if isinstance(answer, BaseException)]
            if faults and (whole or len(faults) == len(answers)):
                raise faults[0]
            if faults:
                # a failed primary may have a successor, which the next call should find
                self._primaries.refresh_soon()
            return [answer for answer in answers if not isinstance(answer, BaseException)]

        return await self._with_retries(call)

    async def scan(self, pattern: str, kind: str) -> AsyncIterator[str]:
        """Yield the keys of a type that match a pattern; a key may be repeated, or damaged."""
        for primary in self._primaries.all():
            cursor: Answer = 0
            while True:
                parts = ("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN, "TYPE", kind)
                cursor, found = await self._with_retries(
                    lambda at=primary, parts=parts: at.client.execute_command(*parts)  # type: ignore[misc]
                )
                for key in found:
                    yield key.decode(errors="replace")
                cursor = int(cursor)
                if cursor == 0:
                    break

    async def load_library(self) -> None:
        """Load our Functions into every primary."""
        await self._with_retries(lambda: asyncio.gather(*map(load_into, self._primaries.all())))

    async def _with_retries(self, send: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `send`, tried until it succeeds or `STORE_TIMEOUT` passes (`StoreUnavailable`)."""
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
                    await asyncio.sleep(pause)
                    await self._primaries.refresh()
                    pause = min(2 * pause, _LONGEST_PAUSE)
        except TimeoutError as error:
            raise StoreUnavailable(reason) from error

    def _owner(self, parts: Sequence[Part]) -> Primary:
        return self._primaries.of(str(parts[1])) if parts[1:] else self._primaries.all()[0]

    async def _call(self, primary: Primary, parts: tuple[Part, ...]) -> Answer:
        try:
            return await primary.client.execute_command(*parts)
        except ResponseError as error:
            if not is_function_missing(error):
                raise
        await load_into(primary)
        return await primary.client.execute_command(*parts)

    async def _durably(self, key: str, parts: tuple[Part, ...]) -> Answer:
        if self._replicated:
            return await self._with_retries(lambda: self._call_replicated(key, parts))
        return await self._with_retries(lambda: self._call(self._primaries.of(key), parts))

    async def _call_replicated(self, key: str, parts: tuple[Part, ...]) -> Answer:
        primary = self._primaries.of(key)
        pipeline = primary.client.pipeline(transaction=False)
        pipeline.execute_command(*parts)
        for command in confirmation_commands(mark_key(key), on_disk=self._on_disk):
            pipeline.execute_command(*command)
        answer, *replies = await pipeline.execute(raise_on_error=False)
        if isinstance(answer, ResponseError):
            if is_function_missing(answer):
                await load_into(primary)
                raise ResponseError("TRYAGAIN the Functions are there now")
            raise answer
        if not is_confirmed(replies):
            raise ResponseError("NOREPLICAS no replica confirmed the write")
        return answer


async def load_into(primary: Primary) -> None:
    """Load our Functions into one primary, without retries.

    The store writes this command to its append-only file and flushes the file before it answers. So loading
    the Functions on every new connection for commits also puts on the disk what an earlier run of the store
    has written and not flushed. Without it, a restarted store could acknowledge new moves while older ones,
    which it has read from the system's memory, are lost in a power cut. Do not skip it when the Functions exist.
    """
    await primary.client.execute_command("FUNCTION", "LOAD", "REPLACE", SOURCE)
