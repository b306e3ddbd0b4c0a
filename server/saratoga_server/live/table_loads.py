"""Loads of tables in progress: concurrent callers share one read."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct, field

from saratoga_server.domain.tables import CommandRejected

LoadTable = Callable[[str], Awaitable[tuple[int, bytes] | None]]


class _Load(Struct):
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    heard_of: int = 0
    """The newest version published since the read began."""


class TableLoads:
    """The loads of tables that are in progress."""

    def __init__(self) -> None:
        self._loads: dict[str, _Load] = {}

    @asynccontextmanager
    async def one_at_a_time(self, code: str) -> AsyncIterator[None]:
        """Let one caller load the table while others wait for it."""
        load = self._loads.setdefault(code, _Load())
        load.callers += 1
        try:
            async with load.lock:
                yield
        finally:
            load.callers -= 1
            if not load.callers:
                del self._loads[code]

    def heard_of(self, code: str, version: int) -> None:
        """Record a version that was published while the table is being loaded."""
        if (load := self._loads.get(code)) is not None:
            load.heard_of = max(version, load.heard_of)

    async def read(self, code: str, load_table: LoadTable) -> tuple[int, bytes]:
        """Return version and body, as new as all published. Raises `CommandRejected`."""
        load = self._loads[code]
        while True:
            load.heard_of = 0
            stored = await load_table(code)
            if stored is None:
                raise CommandRejected("no_such_table")
            if stored[0] >= load.heard_of:
                return stored
