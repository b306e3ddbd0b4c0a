"""System calls show that the store syncs its log before it answers a commit."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kit.running_race import move, running_race
from kit.stores import SCRATCH, StoreServer, binaries
from kit.system_calls import MUST_TRACE, STRACE, answers, is_durable, read_calls, traced
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store

MOVES = 20


@pytest.fixture(params=list(binaries()))
def traced_store(request: pytest.FixtureRequest) -> Iterator[StoreServer]:
    """A store whose system calls are traced to the file `calls` in its folder."""
    binary = binaries()[request.param]
    assert binary is not None, "redis-server is not installed, and this run must test against it"
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True) as folder:
        server = StoreServer(binary, Path(folder), before=traced(Path(folder) / "calls"))
        try:
            yield server
        finally:
            server.shut_down()


async def commit_moves(server: StoreServer, durability: Durability) -> list[bool]:
    """Commit moves one by one; return for each whether it was on disk before its answer."""
    server.start()
    async with open_store(server.url, durability) as store:
        race = await running_race(store)
        for after in range(MOVES):
            await race.commit(move("draw", after))
    server.shut_down()
    return [
        is_durable(calls) for calls in answers(read_calls(server.folder / "calls"), "commit_boards")
    ]


if STRACE or MUST_TRACE:

    async def test_every_move_is_on_disk_before_its_answer(traced_store: StoreServer) -> None:
        assert await commit_moves(traced_store, Durability.SAFE) == [True] * MOVES

    async def test_the_trace_shows_answers_before_the_sync(traced_store: StoreServer) -> None:
        traced_store.settings["appendfsync"] = "everysec"
        assert await commit_moves(traced_store, Durability.FAST) == [False] * MOVES
