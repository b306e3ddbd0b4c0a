"""The embedded store: one server and one store for each folder, and nothing is lost between runs."""

import asyncio
import logging
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import time
from typing import Any

import pytest
from msgspec.structs import replace

from kit.server_process import listener_of
from kit.tables import ANNA, CODE, move, running_race
from saratoga_server.embedded_store import embedded
from saratoga_server.embedded_store.append_files import FOLDER, MANIFEST
from saratoga_server.embedded_store.embedded import EmbeddedStore, running_store
from saratoga_server.embedded_store.ledger_file import NAME, read_note, write_note
from saratoga_server.embedded_store.process import StoreProcess, find_binary
from saratoga_server.embedded_store.store_folder import SOCKET, open_socket_path
from saratoga_server.ports import CommitStatus, Durability, StoreRefused, StoreUnavailable
from saratoga_server.store import commits
from saratoga_server.store.opening import Store, open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An awkward data folder: with spaces, longer than 160 bytes, and not created yet."""
    return tmp_path / "Application Support" / ("long" * 40) / "saratoga"


@contextmanager
def leftover_store(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A store that holds the folder's lock although its server is gone, as may happen outside Linux."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = [str(find_binary()), "--port", "0", "--unixsocket", SOCKET, "--appendonly", "yes"]
    with (
        open_socket_path(folder) as path,
        # the store inherits the lock with the open file, as with util-linux's flock
        subprocess.Popen(
            ["flock", "--no-fork", "store.lock", *command, "--save", ""],
            cwd=folder,
            stdout=subprocess.PIPE,
        ) as store,
    ):
        assert store.stdout is not None
        for line in store.stdout:
            if b"Ready to accept connections" in line:
                break
        assert listener_of(Path(path)) == store.pid
        try:
            yield store
        finally:
            store.kill()


def mode(path: Path) -> int:
    """Return the permission bits of a file."""
    return path.stat().st_mode & 0o777


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


async def test_it_syncs_every_second_where_that_is_enough(folder: Path) -> None:
    async with EmbeddedStore(folder, Durability.FAST) as url:
        async with open_store(url, Durability.FAST) as store:
            assert store.durability is Durability.FAST
        with pytest.raises(StoreRefused, match="CONFIG SET appendfsync always"):
            async with open_store(url, Durability.SAFE):
                pass


def open_to_others(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)


async def test_no_other_user_can_read_the_embedded_store(folder: Path) -> None:
    open_to_others(folder)
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
        assert mode(folder) == 0o700
        written = [folder / "appendonlydir", *(folder / "appendonlydir").iterdir(), folder / SOCKET]
        assert len(written) > 2
        assert {mode(path) & 0o077 for path in written} == {0}


async def test_another_process_finds_the_running_store(folder: Path) -> None:
    with pytest.raises(StoreRefused, match="No server runs on"):
        async with running_store(folder):
            pass
    async with EmbeddedStore(folder), running_store(folder) as url, open_store(url) as store:
        await running_race(store)
    with pytest.raises(StoreRefused, match="No server runs on"):
        async with running_store(folder):
            pass


async def test_no_store_is_believed_in_a_folder_that_others_can_enter(folder: Path) -> None:
    async with EmbeddedStore(folder):
        open_to_others(folder)
        with pytest.raises(StoreRefused, match="No server runs on"):
            async with running_store(folder):
                pass


async def test_a_store_without_a_server_is_shut_down_in_order_and_its_data_taken(
    folder: Path,
) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    with leftover_store(folder) as leftover:
        fresh = EmbeddedStore(folder)
        async with fresh as url, open_store(url) as store:
            assert leftover.wait() == 0
            assert fresh.pid != leftover.pid
            assert await store.boards.load_board(CODE, 1, ANNA) is not None


async def test_a_store_without_a_server_that_hangs_is_left_alone_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "LEFTOVER_ENDS_WITHIN", 0.0)
    with leftover_store(folder) as leftover:
        leftover.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreRefused, match=r"still uses .* does not shut down"):
            async with EmbeddedStore(folder):
                pass
        assert leftover.poll() is None


async def test_a_store_is_started_again_whatever_an_attempt_meets(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RESTART_PAUSE", 0.0)
    faults: list[Exception] = [RuntimeError("odd"), OSError("no memory"), StoreRefused("not up")]
    start = StoreProcess.start

    async def fail_at_first(*given: Any) -> StoreProcess:
        if faults:
            raise faults.pop(0)
        return await start(*given)

    store = EmbeddedStore(folder)
    async with asyncio.timeout(30), store as url, open_store(url) as opened:
        race = await running_race(opened)
        monkeypatch.setattr(StoreProcess, "start", fail_at_first)
        with caplog.at_level(logging.INFO, "saratoga"):
            os.kill(store.pid, signal.SIGKILL)
            assert (await race.board()).state == "racing"
        assert events(caplog)[:4] == ["store_ended", *["store_start_failed"] * 3]
        assert not store.supervision.done()


async def test_a_ruined_file_is_refused_with_the_stores_own_words(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    [file] = (folder / "appendonlydir").glob("*.incr.aof")
    file.write_bytes(b"*junk\r\n" + file.read_bytes())
    with pytest.raises(
        StoreRefused, match=r"(?s)(Bad file format|Fatal|AOF).*admin --data .* restore"
    ):
        async with EmbeddedStore(folder):
            pass
    with pytest.raises(StoreRefused, match="No server runs on"):
        async with running_store(folder):
            pass


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[EmbeddedStore, Store]]:
    """Run a store on the folder and open it, as a server does."""
    store = EmbeddedStore(folder)
    async with store as url, open_store(url, memory=store.ledger) as opened:
        yield store, opened


async def used(folder: Path) -> None:
    """Run a store on the folder that holds a race, and shut it down in order."""
    async with served(folder) as (_, opened):
        await running_race(opened)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / FOLDER).iterdir()}


async def test_files_without_a_manifest_are_refused_and_left_alone(folder: Path) -> None:
    await used(folder)
    (folder / FOLDER / MANIFEST).unlink()
    left = contents(folder)
    with pytest.raises(StoreRefused, match=rf"{MANIFEST} is missing.* restore BACKUP"):
        await used(folder)
    assert contents(folder) == left


async def test_a_first_start_that_was_interrupted_is_begun_again(folder: Path) -> None:
    async with EmbeddedStore(folder):
        pass
    (folder / FOLDER / MANIFEST).unlink()
    await used(folder)


async def test_a_snapshot_that_was_copied_into_the_folder_is_refused(folder: Path) -> None:
    async with EmbeddedStore(folder):
        pass
    shutil.rmtree(folder / FOLDER)
    (folder / "dump.rdb").write_bytes(b"REDIS")
    with pytest.raises(StoreRefused, match=r"dump\.rdb is a snapshot.* restore BACKUP"):
        await used(folder)


async def test_a_store_without_the_data_that_its_server_had_is_refused(folder: Path) -> None:
    await used(folder)
    shutil.rmtree(folder / FOLDER)
    with pytest.raises(StoreRefused, match="does not have the data of this server"):
        await used(folder)


async def test_a_store_that_was_long_unused_is_copied_before_anything_in_it_expires(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await used(folder)
    (folder.parent / "before-2024-02-29").mkdir()
    long_ago = time() - 61 * 86_400
    for days in (59, 61):
        os.utime(folder / NAME, (long_ago, time() - days * 86_400))
        async with served(folder):
            pass
        [copy] = folder.parent.glob("before-*")
        assert (copy.name == "before-2024-02-29") is (days == 59)
    assert "store_copied" in events(caplog)
    assert (mode(copy), mode(copy / FOLDER)) == (0o700, 0o700)
    async with served(copy) as (_, store):
        assert await store.tables.load_table(CODE) is not None


def temporary_files(folder: Path) -> list[Path]:
    return list(folder.glob("temp-*"))


async def test_what_a_killed_store_was_writing_is_deleted_at_the_next_start(folder: Path) -> None:
    await used(folder)
    for name in ("temp-rewriteaof-77.aof", "temp-rewriteaof-bg-77.aof", "temp-77.rdb"):
        (folder / name).write_bytes(b"REDIS")
    async with EmbeddedStore(folder):
        assert await asyncio.to_thread(temporary_files, folder) == []


@pytest.mark.parametrize("in_order", [True, False])
async def test_files_are_rewritten_unless_the_store_was_shut_down_in_order(
    folder: Path, caplog: pytest.LogCaptureFixture, in_order: bool
) -> None:
    await used(folder)
    note = read_note(folder)
    assert note is not None
    assert note.clean
    if not in_order:
        write_note(folder, replace(note, clean=False))
    before = contents(folder).keys()
    caplog.set_level(logging.INFO, "saratoga")
    async with served(folder) as (_, opened):
        assert await opened.boards.load_board(CODE, 1, ANNA) is not None
        running = read_note(folder)
        assert running is not None
        assert not running.clean
    assert ("store_files_rewritten" in events(caplog)) is not in_order
    assert (contents(folder).keys() & before == {MANIFEST}) is not in_order


async def test_a_store_that_ended_by_itself_acknowledges_nothing_before_its_files_are_rewritten(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedded, "RESTART_PAUSE", 0.0)
    caplog.set_level(logging.INFO, "saratoga")
    async with asyncio.timeout(30), served(folder) as (store, opened):
        race = await running_race(opened)
        await race.commit(move("draw", 0))
        obstacle = folder / FOLDER / "appendonly.aof.2.base.rdb"
        obstacle.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(commits, "STORE_TIMEOUT", 0.3)
            os.kill(store.pid, signal.SIGKILL)
            while "store_start_failed" not in events(caplog):
                with pytest.raises(StoreUnavailable):
                    await race.commit(move("w>t1", 1))
        assert "could not rewrite its files" in caplog.text
        waiting = opened.commits.commit(move("w>t1", 1))
        await asyncio.to_thread(obstacle.rmdir)
        assert (await waiting).status is CommitStatus.DONE
        assert "store_files_rewritten" in events(caplog)
        assert await race.texts() == ["draw", "w>t1"]
