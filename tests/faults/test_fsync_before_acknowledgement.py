"""System calls show that a move is acknowledged only when the store's log is on disk.

Server and store are traced together, so their calls have one order: the move is sent to the store, the
store writes and syncs its log, and only then the acknowledgement is written to the player's socket. A store
alone is traced too: it syncs its log before it answers a commit.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kit.altered_server import QUICK
from kit.recorded_players import players_at_a_table
from kit.running_race import move, running_race
from kit.server_process import running_server
from kit.stores import SCRATCH, StoreServer, binaries
from kit.system_calls import (
    MUST_TRACE,
    STRACE,
    Span,
    answers,
    is_durable,
    read_calls,
    read_spans,
    traced,
    traced_with_children,
)
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store

GAME = "lady-palk"
MOVES = 20
"""The least number of acknowledged moves."""

PACE = 50.0
"""Moves a second of the bot."""


async def make_moves(url: str) -> None:
    """Let a bot race alone until it has made enough moves, one after another."""
    async with players_at_a_table(url, GAME, "Anna", line_up=("weak",)) as (anna,):
        news = asyncio.Event()
        anna.notes.on_news = news.set
        racing = asyncio.create_task(anna.race(None, PACE, starts_with=1))
        racing.add_done_callback(lambda _: news.set())
        while len(anna.notes.acknowledged) < MOVES:
            assert not racing.done(), racing
            news.clear()
            await news.wait()
        racing.cancel()


async def acknowledgements(folder: Path, durability: str) -> list[bool]:
    """Return for each acknowledged move whether the log was on disk before the acknowledgement."""
    before = tuple(traced_with_children(folder / "calls"))
    async with running_server(
        "--durability",
        durability,
        folder=folder,
        before=before,
        module=QUICK,
    ) as server_process:
        await make_moves(server_process.url)
    return list(_durable_when_acknowledged(read_spans(folder / "calls")))


def _durable_when_acknowledged(spans: Sequence[Span]) -> Iterator[bool]:
    commits = [span for span in spans if span.call.reads and "commit_boards" in span.call.rest]
    logged = [span for span in spans if span.call.on_log and span.call.writes]
    synced = [span for span in spans if span.call.on_log and span.call.syncs]
    for span in spans:
        if span.call.writes and "board\\242re" in span.call.rest:
            commit = max(c.ended for c in commits if c.ended < span.began)
            # the store writes its log after each round of commands: the first write holds this commit
            written = min((w.ended for w in logged if w.began > commit), default=span.began)
            yield any(written < s.began and s.ended < span.began for s in synced)


if STRACE or MUST_TRACE:

    async def test_no_move_is_acknowledged_before_it_is_on_disk(tmp_path: Path) -> None:
        shown = await acknowledgements(tmp_path, "safe")
        assert len(shown) >= MOVES
        assert all(shown)

    async def test_the_trace_shows_acknowledgements_before_the_sync(tmp_path: Path) -> None:
        shown = await acknowledgements(tmp_path, "fast")
        assert len(shown) >= MOVES
        assert not all(shown)


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
