"""The first load of a table: one read for all callers, and never older than a published version."""

import asyncio

import pytest

from kit.tables import CODE
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.table_loads import TableLoads

OTHER = "odd-emu-11"


class Store:
    """A table store that returns these versions in turn."""

    def __init__(self, *versions: int | None) -> None:
        self.versions = list(versions)
        self.reads = 0

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        await asyncio.sleep(0)
        self.reads += 1
        version = self.versions.pop(0)
        return None if version is None else (version, code.encode())


async def test_one_caller_at_a_time_loads_a_table() -> None:
    loads, inside = TableLoads(), 0

    async def load(code: str) -> int:
        nonlocal inside
        async with loads.one_at_a_time(code):
            inside += 1
            most = inside
            await asyncio.sleep(0)
            inside -= 1
        return most

    assert await asyncio.gather(*map(load, (CODE, CODE, CODE))) == [1, 1, 1]
    assert await asyncio.gather(*map(load, (CODE, OTHER))) == [1, 2], "other tables do not wait"


async def test_a_read_is_repeated_until_it_is_as_new_as_what_was_published() -> None:
    loads, store = TableLoads(), Store(1, 2, 4)
    loads.heard_of(CODE, 9)  # no caller waits for it, so it is forgotten

    async def load_table(code: str) -> tuple[int, bytes] | None:
        answer = await store.load_table(code)
        if store.reads == 1:
            loads.heard_of(CODE, 2)
            loads.heard_of(CODE, 1)
        elif store.reads == 2:
            loads.heard_of(CODE, 3)
        loads.heard_of(OTHER, 9)
        return answer

    async with loads.one_at_a_time(CODE):
        assert await loads.read(CODE, load_table) == (4, CODE.encode())
    assert store.reads == 3


async def test_a_table_that_does_not_exist_is_refused() -> None:
    loads = TableLoads()
    async with loads.one_at_a_time(CODE):
        with pytest.raises(CommandRejected, match="no_such_table"):
            await loads.read(CODE, Store(None).load_table)


async def test_nothing_is_kept_of_a_load_that_has_ended() -> None:
    loads = TableLoads()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with loads.one_at_a_time(CODE):
                raise ZeroDivisionError
        with pytest.raises(KeyError):
            await loads.read(CODE, Store(1).load_table)
