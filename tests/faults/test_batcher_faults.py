"""Commits survive errors between the batcher and its primary: refusals, moved slots, lost slot maps."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import hiredis
import pytest

from kit.running_race import move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store import batcher, store_client
from saratoga_server.store.batcher import Batcher, Connect, HandOver
from saratoga_server.store.commit_encoder import CommitEncoder
from saratoga_server.store.dial import dial
from saratoga_server.store.keys import mark_key, table_key
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.pending import PendingCommit
from saratoga_server.store.primaries import Primaries, Primary

TABLES = [f"mint-otter-{number}" for number in range(10, 13)]


@pytest.fixture
async def store(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout, so that commits are given up soon."""
    for module in (batcher, store_client):
        monkeypatch.setattr(module, "STORE_TIMEOUT", 0.3)


class OneStore(Primaries):
    """A standalone store whose slot map can fail."""

    def __init__(self, url: str, *faults: Exception) -> None:
        super().__init__((url,), is_cluster=False)
        self._faults = list(faults)

    async def refresh(self) -> None:
        if self._faults:
            raise self._faults.pop()


@asynccontextmanager
async def one_batcher(
    primaries: Primaries,
    connect: Connect,
    *,
    replicated: bool = False,
    hand_over: HandOver | None = None,
) -> AsyncIterator[Batcher]:
    """Open a batcher to one primary."""
    encoder = CommitEncoder(replicated=replicated, on_disk=False)
    [primary] = primaries.all()
    own = Batcher(primaries, primary, connect, encoder, lambda boards: None, hand_over)
    try:
        async with asyncio.timeout(10):
            yield own
    finally:
        await own.close(0)
        await primaries.close()


async def dialled(primary: Primary) -> asyncio.Transport:
    return await dial(primary.url)


async def test_unexpected_errors_while_connecting_do_not_stop_commits(
    store: Store, store_server: StoreServer
) -> None:
    race = await running_race(store)
    faults = [RuntimeError("odd"), ValueError("odder")]

    async def connect(primary: Primary) -> asyncio.Transport:
        if faults:
            raise faults.pop()
        return await dial(primary.url)

    primaries = OneStore(store_server.url, RuntimeError("no map"), RuntimeError("no map"))
    async with one_batcher(primaries, connect) as own:
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert await race.texts() == ["draw"]
    assert not faults


async def test_a_failed_recovery_fails_waiting_commits_and_not_the_next(
    store: Store, store_server: StoreServer
) -> None:
    race = await running_race(store)
    faults = [RuntimeError("no such slot")]

    class Lost(OneStore):
        def of_table(self, code: str) -> Primary:
            if faults:
                raise faults.pop()
            return super().of_table(code)

    def hand_over(pending: PendingCommit) -> None:
        raise AssertionError

    async with one_batcher(Lost(store_server.url), dialled, hand_over=hand_over) as own:
        with pytest.raises(StoreUnavailable, match="no such slot"):
            await own.commit(move("draw", 0))
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert await race.texts() == ["draw"]


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


async def test_a_mark_and_a_call_whose_slots_move_delay_no_others(
    tmp_path: Path,
) -> None:
    leaving, moving, here = TABLES[:3]
    refused = 0

    def reply(words: list[bytes]) -> bytes:
        nonlocal refused
        if words[0] == b"WAIT":
            return b":1\r\n"
        key = words[3] if words[0] == b"FCALL" else words[1]
        if words[0] == b"SET":
            tag = mark_key(table_key(leaving)).encode()
            return b"-ASK 1 127.0.0.1:1\r\n" if key == tag else b"+OK\r\n"
        if words[0] != b"FCALL":
            return b"+OK\r\n"
        if moving.encode() in key and not has_moved:
            refused += 1
            return b"-TRYAGAIN a part is on its way\r\n"
        return DONE

    has_moved = False
    handed_over: list[PendingCommit] = []
    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(OneStore(url), dialled, replicated=True, hand_over=handed_over.append) as own,
    ):
        commits = [own.commit(move("draw", 0, code=code)) for code in (leaving, moving, here)]
        for outcome in await asyncio.gather(commits[0], commits[2]):
            assert outcome.status is CommitStatus.DONE
        assert not commits[1].done()
        has_moved = True
        assert (await commits[1]).status is CommitStatus.DONE
    assert refused
    assert not handed_over


async def test_a_commit_whose_slot_has_moved_is_handed_over_as_sent(
    tmp_path: Path,
) -> None:
    elsewhere = OneStore("redis://127.0.0.1:1")
    has_moved = False
    handed_over: asyncio.Queue[PendingCommit] = asyncio.Queue()

    class Moving(OneStore):
        def of_table(self, code: str) -> Primary:
            return elsewhere.of_table(code) if has_moved else super().of_table(code)

    def reply(words: list[bytes]) -> bytes:
        nonlocal has_moved
        if words[0] != b"FCALL":
            return b"+OK\r\n"
        has_moved = True
        return b"-MOVED 1 127.0.0.1:1\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(Moving(url), dialled, hand_over=handed_over.put_nowait) as own,
    ):
        outcome = own.commit(move("draw", 0))
        pending = await handed_over.get()
        assert pending.outcome is outcome
        assert pending.was_sent
    outcome.cancel()
    await elsewhere.close()


@pytest.mark.usefixtures("short_timeout")
async def test_a_refused_mark_is_sent_again_after_a_pause(tmp_path: Path) -> None:
    """The fake store refuses the mark at once, and its replicas confirm at once."""
    marks = 0

    def reply(words: list[bytes]) -> bytes:
        nonlocal marks
        if words[0] == b"SET":
            marks += 1
            return b"-ASK 1 127.0.0.1:1\r\n"
        if words[0] == b"WAIT":
            return b":1\r\n"
        return DONE if words[0] == b"FCALL" else b"+OK\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(OneStore(url), dialled, replicated=True) as own,
    ):
        with pytest.raises(StoreUnavailable, match="ASK 1"):
            await own.commit(move("draw", 0))
    assert marks <= 3, "the pause is nearly as long as the time to retry"
