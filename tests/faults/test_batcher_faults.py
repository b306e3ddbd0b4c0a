"""Commits survive errors between the batcher and the store: refusals and failed connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import hiredis
import msgpack
import pytest

from kit.running_race import move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store import batcher, store_client
from saratoga_server.store.batcher import Batcher, Connect
from saratoga_server.store.commit_encoder import CommitEncoder
from saratoga_server.store.dial import dial
from saratoga_server.store.opening import Store, open_store


@pytest.fixture
async def store(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout, so that commits are given up soon."""
    for module in (batcher, store_client):
        monkeypatch.setattr(module, "STORE_TIMEOUT", 0.3)


@asynccontextmanager
async def one_batcher(connect: Connect, *, replicated: bool = False) -> AsyncIterator[Batcher]:
    """Open a batcher by itself."""
    encoder = CommitEncoder(replicated=replicated, on_disk=False)
    own = Batcher(connect, encoder, lambda boards: None)
    try:
        async with asyncio.timeout(10):
            yield own
    finally:
        await own.close(0)


async def test_unexpected_errors_while_connecting_do_not_stop_commits(
    store: Store, store_server: StoreServer
) -> None:
    race = await running_race(store)
    faults = [RuntimeError("odd"), ValueError("odder")]

    async def connect() -> asyncio.Transport:
        if faults:
            raise faults.pop()
        return await dial(store_server.url)

    async with one_batcher(connect) as own:
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert await race.texts() == ["draw"]
    assert not faults


@asynccontextmanager
async def scripted_store(socket: Path, reply: Callable[[list[bytes]], bytes]) -> AsyncIterator[str]:
    """Run a fake store that answers each command with `reply(words)`; yield its address."""
    connections: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        parsed = hiredis.Reader()
        while data := await reader.read(1 << 16):
            parsed.feed(data)
            while (words := parsed.gets()) is not False:
                writer.write(reply(words))
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(serve, socket)
    try:
        yield f"unix://{socket}"
    finally:
        server.close()
        await asyncio.gather(*filter(None, connections))


DONE = b"*4\r\n:0\r\n:1\r\n:5\r\n:1\r\n"
"""The store's reply to a call with one commit."""


async def test_a_batch_that_meets_a_transient_error_is_sent_again_as_a_repeat(
    tmp_path: Path,
) -> None:
    calls: list[bool] = []

    def reply(words: list[bytes]) -> bytes:
        if words[0] != b"FCALL":
            return b"+OK\r\n"
        calls.append(msgpack.unpackb(words[-1])[0])
        return DONE if len(calls) > 2 else b"-OOM no memory\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(lambda: dial(url)) as own,
    ):
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert calls == [False, True, True]


@pytest.mark.usefixtures("short_timeout")
async def test_a_refused_mark_is_sent_again_after_a_pause(tmp_path: Path) -> None:
    """The fake store refuses the mark at once, and its replicas confirm at once."""
    marks = 0

    def reply(words: list[bytes]) -> bytes:
        nonlocal marks
        if words[0] == b"SET":
            marks += 1
            return b"-OOM no memory\r\n"
        if words[0] == b"WAIT":
            return b":1\r\n"
        return DONE if words[0] == b"FCALL" else b"+OK\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(lambda: dial(url), replicated=True) as own,
    ):
        with pytest.raises(StoreUnavailable, match="OOM no memory"):
            await own.commit(move("draw", 0))
    assert marks <= 3, "the pause is nearly as long as the time to retry"
