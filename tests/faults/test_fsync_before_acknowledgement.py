"""System calls show that a move is acknowledged only when the store's log is on disk.

Server and store are traced together, so their calls have one order: the move is sent to the store, the
store writes and syncs its log, and only then the acknowledgement is written to the player's socket.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from kit.altered_server import QUICK
from kit.recorded_players import players_at_a_table
from kit.server_process import running_server
from kit.system_calls import MUST_TRACE, STRACE, Span, read_spans, traced_with_children

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
        if span.call.writes and "move_made" in span.call.rest:
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
