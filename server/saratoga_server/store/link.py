"""The house's shared way to its store: commands and Function calls through redis-py.

For everything but the commits of moves, which have connections of their own (`commits.py`). Each
goes to the primary that owns its key. What fails for a reason that passes is sent again, elsewhere
if the key has moved; so whatever is called here is repeat-safe.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.confirmations import confirmed, questions
from saratoga_server.store.errors import is_function_missing, passes
from saratoga_server.store.keys import mark_key
from saratoga_server.store.library import SOURCE, function_name
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store_timeout import STORE_TIMEOUT

_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.25
"""Seconds between tries."""
_SCAN: Final = 1_000
"""Keys looked at by one step over all of them."""

_KEYLESS: Final = frozenset({"TIME", "PING", "PUBLISH", "CONFIG", "EVAL", "SCAN", "INFO"})
"""Commands that any primary may answer."""

Part = str | bytes | int | float
Answer = Any
"""A reply as redis-py hands it out: bytes, numbers, lists of them, or None."""

T = TypeVar("T")


class Link:
    """Commands and Function calls, with patience for a store that restarts or fails over."""

    def __init__(
        self, primaries: Primaries, *, replicated: bool = False, on_disk: bool = False
    ) -> None:
        """`replicated`: a write is durable once a replica has it, `on_disk`: on its disk."""
        self.primaries = primaries
        self._replicated = replicated
        self._on_disk = on_disk

    async def command(self, *parts: Part) -> Answer:
        """Send one command that only reads, or whose effect need not be durable.

        Its first argument is the key it is about, unless it is about none.
        """
        return await self.patiently(lambda: self._owner(parts).client.execute_command(*parts))

    async def commands(self, parts: Sequence[tuple[str | bytes | int, ...]]) -> list[Answer]:
        """Send several commands that only read, in one go to each primary."""

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

        return await self.patiently(send_all) if parts else []

    async def read(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function that changes nothing, or whose effect need not be durable."""
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        return await self.patiently(lambda: self._call(self.primaries.of(keys[0]), parts))

    async def write(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function; what it wrote is durable when this returns."""
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        return await self._durably(keys[0], parts)

    async def read_durable(self, *parts: str | bytes | int) -> Answer:
        """Send a command that reads: what it found is durable when this returns.

        For what players are told as theirs: between a write and its replica somebody else may look.
        """
        return await self._durably(str(parts[1]), parts)

    async def read_everywhere(
        self, function: str, keys: Sequence[str], *args: str | bytes | int, whole: bool = True
    ) -> list[Answer]:
        """Call a Function once at every primary, with those of the keys that it owns.

        The keys go as arguments behind the others: in a cluster they lie in many slots. Unless the
        answer is to be `whole`, a primary that does not give one is left out if another does.
        """

        async def call() -> list[Answer]:
            owned: dict[Primary, list[str]] = defaultdict(list)
            for key in keys:
                owned[self.primaries.of(key)].append(key)
            calls = (
                self._call(primary, ("FCALL", function_name(function), 0, *args, *its))
                for primary, its in owned.items()
            )
            answers = await asyncio.gather(*calls, return_exceptions=True)
            faults = [answer for answer in answers if isinstance(answer, BaseException)]
            if faults and (whole or len(faults) == len(answers)):
                raise faults[0]
            if faults:
                # who did not answer may have handed over: the next look goes to its heir
                self.primaries.refresh_soon()
            return [answer for answer in answers if not isinstance(answer, BaseException)]

        return await self.patiently(call)

    async def scan(self, pattern: str, kind: str) -> AsyncIterator[str]:
        """Every key of that kind that looks like this; some may come twice."""
        for primary in self.primaries.all():
            cursor: Answer = 0
            while True:
                parts = ("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN, "TYPE", kind)
                cursor, found = await self.patiently(
                    lambda at=primary, parts=parts: at.client.execute_command(*parts)  # type: ignore[misc]
                )
                for key in found:
                    yield key.decode()
                cursor = int(cursor)
                if cursor == 0:
                    break

    async def load_library(self) -> None:
        """Load our Functions into every primary."""
        await self.patiently(lambda: asyncio.gather(*map(load_into, self.primaries.all())))

    async def patiently(self, send: Callable[[], Awaitable[T]]) -> T:
        """Try until it works, for `STORE_TIMEOUT` at most; raise `StoreUnavailable` after that."""
        pause, fault = _FIRST_PAUSE, ""
        try:
            async with asyncio.timeout(STORE_TIMEOUT):
                while True:
                    try:
                        return await send()
                    except (RedisConnectionError, RedisTimeoutError) as error:
                        fault = str(error)
                    except ResponseError as error:
                        if not passes(error):
                            raise
                        fault = str(error)
                    await asyncio.sleep(pause)
                    await self.primaries.refresh()
                    pause = min(2 * pause, _LONGEST_PAUSE)
        except TimeoutError as error:
            raise StoreUnavailable(f"the store does not answer: {fault or 'in time'}") from error

    def _owner(self, parts: Sequence[Part]) -> Primary:
        if parts[0] in _KEYLESS:
            return self.primaries.all()[0]
        return self.primaries.of(str(parts[1]))

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
            return await self.patiently(lambda: self._call_replicated(key, parts))
        return await self.patiently(lambda: self._call(self.primaries.of(key), parts))

    async def _call_replicated(self, key: str, parts: tuple[Part, ...]) -> Answer:
        primary = self.primaries.of(key)
        pipeline = primary.client.pipeline(transaction=False)
        pipeline.execute_command(*parts)
        for question in questions(mark_key(key), on_disk=self._on_disk):
            pipeline.execute_command(*question)
        answer, *replies = await pipeline.execute(raise_on_error=False)
        if isinstance(answer, ResponseError):
            if is_function_missing(answer):
                await load_into(primary)
                raise ResponseError("TRYAGAIN the Functions are there now")
            raise answer
        if not confirmed(replies):
            raise ResponseError("NOREPLICAS no replica confirmed the write")
        return answer


async def load_into(primary: Primary) -> None:
    """Load our Functions into one primary; tries once."""
    await primary.client.execute_command("FUNCTION", "LOAD", "REPLACE", SOURCE)
