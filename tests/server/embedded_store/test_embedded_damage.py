"""An embedded store whose files lack something, or which ended by itself, is not used as if nothing had happened."""

import asyncio
import logging
import os
import shutil
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.running_race import ANNA, CODE, move, running_race
from saratoga_server.embedded_store import embedded
from saratoga_server.embedded_store.append_files import FOLDER
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.interrupted_write import CutFile, cut_interrupted_write
from saratoga_server.embedded_store.ledger_file import (
    LEDGER_KEY,
    NAME,
    LedgerNote,
    read_note,
    write_note,
)
from saratoga_server.embedded_store.store_folder import LOOK_AGAIN, lock_for_server, locked
from saratoga_server.embedded_store.writes_in_file import ends_of_writes
from saratoga_server.ports import CommitStatus, StoreRefused, StoreUnavailable
from saratoga_server.store import batcher, guard
from saratoga_server.store.clients import open_client
from saratoga_server.store.ledger import LOSS_TOLERATED
from saratoga_server.store.opening import Store, open_store

WITHIN = 30.0
"""Seconds in which a store must have started again, and a move be answered."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture(autouse=True)
def checked_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the guard check the store only when a test or a new connection asks; start stores again at once."""
    monkeypatch.setattr(guard, "CHECK_EVERY", 3_600.0)
    monkeypatch.setattr(embedded, "RESTART_PAUSE", 0.0)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[EmbeddedStore, Store]]:
    """Run a store on the folder and open it, as a server does."""
    store = EmbeddedStore(folder)
    async with (
        store as url,
        open_store(url, memory=store.ledger, holds=[store.why_held]) as opened,
    ):
        yield store, opened


async def used(folder: Path) -> None:
    async with served(folder) as (_, opened):
        await running_race(opened)


async def refused(folder: Path, reason: str) -> None:
    """Check that the store is refused for this reason, and that the message says what to do."""
    with pytest.raises(StoreRefused, match=rf"{reason}.* restore"):
        await used(folder)


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


async def test_emptied_moves_are_refused(folder: Path) -> None:
    await used(folder)
    [file] = (folder / FOLDER).glob("*.incr.aof")
    file.write_bytes(b"")
    mark_in_use(folder)
    await refused(folder, "does not have the data of this server")


def mark_in_use(folder: Path) -> None:
    """Let the ledger file say that the store was not shut down in order."""
    note = read_note(folder)
    assert note is not None
    write_note(folder, replace(note, clean=False))


def drop_last_write(file: Path) -> int:
    """Shorten a file of writes by its last one; return the number of bytes."""
    content = file.read_bytes()
    *_, end, _ = ends_of_writes(content)
    os.truncate(file, end)
    return len(content) - end


async def test_a_write_that_is_missing_after_a_shutdown_in_order_is_refused_each_time(
    folder: Path,
) -> None:
    await used(folder)
    file = newest_file(folder)
    drop_last_write(file)
    for _ in range(2):
        await refused(folder, rf"{file} has only \d+ of \d+ bytes")


async def test_a_write_that_is_missing_after_a_crash_is_logged(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await used(folder)
    file = newest_file(folder)
    missing = drop_last_write(file)
    mark_in_use(folder)
    await used(folder)
    [record] = [record for record in caplog.records if record.getMessage() == "store_file_shorter"]
    assert record.levelno == logging.ERROR
    assert vars(record)["fields"] == {"file": file.name, "bytes": missing}


async def test_an_older_copy_of_the_files_is_refused_and_left_alone(
    folder: Path, tmp_path: Path
) -> None:
    await used(folder)
    shutil.copytree(folder / FOLDER, tmp_path / "copy")
    async with served(folder):
        pass
    note = read_note(folder)
    assert note is not None
    assert note.clean
    write_note(
        folder,
        # by the clock, nothing is missing
        LedgerNote(note.generation, note.sequence + 1, note.at, note.own + 2 * LOSS_TOLERATED),
    )
    shutil.rmtree(folder / FOLDER)
    shutil.copytree(tmp_path / "copy", folder / FOLDER)
    await refused(folder, "older data")
    names = {path.name for path in (folder / FOLDER).iterdir()}
    assert names == {path.name for path in (tmp_path / "copy").iterdir()}


async def test_a_ledger_that_cannot_be_read_is_refused(folder: Path) -> None:
    async with served(folder) as (_, opened):
        await running_race(opened)
    async with EmbeddedStore(folder) as url:
        client = open_client(url)
        await client.set(LEDGER_KEY, "no ledger")
        await client.aclose(close_connection_pool=True)
    await refused(folder, "ledger cannot be read: ")


async def test_data_without_a_ledger_file_are_taken_with_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await used(folder)
    before = read_note(folder)
    (folder / NAME).unlink()
    async with served(folder) as (_, opened):
        assert await opened.boards.load_board(CODE, 1, ANNA) is not None
    assert "store_ledger_missing" in events(caplog)
    after = read_note(folder)
    assert before is not None
    assert after is not None
    assert after.generation == before.generation
    assert (after.sequence > before.sequence, after.own > before.own) == (True, True)


async def test_a_folder_without_files_and_ledger_is_a_new_store(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await used(folder)
    shutil.rmtree(folder / FOLDER)
    (folder / NAME).unlink()
    async with served(folder) as (_, opened):
        assert await opened.boards.load_board(CODE, 1, ANNA) is None
    assert "store_ledger_missing" not in events(caplog)


def newest_file(folder: Path) -> Path:
    [file] = (folder / FOLDER).glob("*.incr.aof")
    return file


async def test_an_interrupted_write_is_cut_off_and_logged_and_a_copy_is_kept(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await used(folder)
    file = newest_file(folder)
    whole = file.read_bytes() + b"*3\r\n$3\r\nSET\r\n"
    file.write_bytes(whole)
    async with served(folder) as (_, opened):
        assert await opened.boards.load_board(CODE, 1, ANNA) is not None
    [record] = [record for record in caplog.records if record.getMessage() == "store_file_cut"]
    assert record.levelno == logging.ERROR
    [copy] = (folder / FOLDER).glob("*.cut-*")
    assert vars(record)["fields"] == {"file": file.name, "bytes": 13, "copy": copy.name}
    assert copy.read_bytes() == whole


def delete_all(files: Path) -> None:
    shutil.rmtree(files)


def delete_base(files: Path) -> None:
    [base] = files.glob("*.base.rdb")
    base.unlink()


@pytest.mark.parametrize("delete", [delete_all, delete_base])
async def test_files_that_are_deleted_while_a_store_runs_are_written_anew(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    delete: Callable[[Path], None],
) -> None:
    monkeypatch.setattr(embedded, "CHECK_FILES_EVERY", 0.01)
    caplog.set_level(logging.INFO, "saratoga")
    async with asyncio.timeout(WITHIN), served(folder) as (store, opened):
        race = await running_race(opened)
        delete(folder / FOLDER)
        while "store_files_missing" not in events(caplog):
            await race.board()  # requests take some time
        while store.why_held() is not None:  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0)
        await race.commit(move("draw", 0))
        assert "store_files_rewritten" in events(caplog)
    async with served(folder) as (_, opened):
        board = await opened.boards.load_board(CODE, 1, ANNA)
        assert board is not None
        assert len(board.entries) == 1


async def test_nothing_is_acknowledged_while_files_are_missing_that_cannot_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedded, "CHECK_FILES_EVERY", 0.01)
    monkeypatch.setattr(batcher, "STORE_TIMEOUT", 0.3)
    async with asyncio.timeout(WITHIN), served(folder) as (store, opened):
        race = await running_race(opened)
        files = folder / FOLDER
        files.rename(folder / "moved away")
        files.write_bytes(b"in the way")
        while "store_rewrite_failed" not in events(caplog):  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0)
        assert str(files) in (store.why_held() or "")
        await opened.guard.check()
        with pytest.raises(StoreUnavailable):
            await race.commit(move("draw", 0))
        files.unlink()
        while store.why_held() is not None:  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0)
        await race.commit(move("draw", 0))


async def test_files_that_are_deleted_just_before_a_shutdown_are_written_anew(folder: Path) -> None:
    async with served(folder) as (_, opened):
        await running_race(opened)
        shutil.rmtree(folder / FOLDER)
    async with served(folder) as (_, opened):
        assert await opened.boards.load_board(CODE, 1, ANNA) is not None


def temporary_files(folder: Path) -> list[Path]:
    return list(folder.glob("temp-*"))


async def test_what_a_killed_store_was_writing_is_deleted_at_the_next_start(folder: Path) -> None:
    await used(folder)
    for name in ("temp-rewriteaof-77.aof", "temp-rewriteaof-bg-77.aof", "temp-77.rdb"):
        (folder / name).write_bytes(b"REDIS")
    async with EmbeddedStore(folder):
        assert await asyncio.to_thread(temporary_files, folder) == []


async def test_a_start_that_is_cancelled_in_a_cut_keeps_the_folder_until_the_file_is_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await used(folder)
    file = newest_file(folder)
    whole = file.read_bytes() + b"*3\r\n$3\r\nSET\r\n"
    file.write_bytes(whole)
    begun, may_go_on = threading.Event(), threading.Event()

    def cut_slowly(folder: Path) -> CutFile | None:
        begun.set()
        may_go_on.wait()
        return cut_interrupted_write(folder)

    monkeypatch.setattr(embedded, "cut_interrupted_write", cut_slowly)
    start = asyncio.create_task(used(folder))
    await asyncio.to_thread(begun.wait)
    start.cancel()
    for lock in ("server.lock", "store.lock"):
        assert await locked(folder / lock, within=LOOK_AGAIN) is None
    may_go_on.set()
    await asyncio.wait([start])
    assert start.cancelled()
    left = contents(folder / FOLDER)
    assert left[file.name] == whole
    assert not any(".cut-" in name for name in left)
    with await lock_for_server(folder):
        pass


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def damage_length(content: bytes) -> bytes:
    """Make a word in the middle longer than the file."""
    at = content.index(b"\r\n$", len(content) // 2) + 3
    return content[:at] + b"99999999" + content[content.index(b"\r\n", at) :]


def lose_all_but_one_write(content: bytes) -> bytes:
    """Leave the beginning of the second write, as if everything behind it had been lost."""
    return content[: next(ends_of_writes(content)) + 20]


@pytest.mark.parametrize("damage", [damage_length, lose_all_but_one_write])
async def test_files_that_are_refused_are_left_as_they_are(
    folder: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[bytes], bytes]
) -> None:
    await used(folder)
    file = newest_file(folder)
    file.write_bytes(damage(file.read_bytes()))
    before = {path.name: path.read_bytes() for path in (folder / FOLDER).iterdir()}
    for _ in range(2):
        await refused(folder, "")
        assert {path.name: path.read_bytes() for path in (folder / FOLDER).iterdir()} == before


@pytest.mark.parametrize("in_order", [True, False])
async def test_files_are_written_anew_unless_the_store_was_shut_down_in_order(
    folder: Path, caplog: pytest.LogCaptureFixture, in_order: bool
) -> None:
    await used(folder)
    note = read_note(folder)
    assert note is not None
    assert note.clean
    if not in_order:
        write_note(folder, replace(note, clean=False, files={}))
    caplog.set_level(logging.INFO, "saratoga")
    async with served(folder) as (_, opened):
        assert await opened.boards.load_board(CODE, 1, ANNA) is not None
        running = read_note(folder)
        assert running is not None
        assert not running.clean
    assert ("store_files_rewritten" in events(caplog)) is not in_order


async def test_a_store_that_ended_by_itself_acknowledges_nothing_before_its_files_are_written_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "saratoga")
    async with asyncio.timeout(WITHIN), served(folder) as (store, opened):
        race = await running_race(opened)
        await race.commit(move("draw", 0))
        obstacle = folder / FOLDER / "appendonly.aof.2.base.rdb"
        obstacle.mkdir()
        monkeypatch.setattr(batcher, "STORE_TIMEOUT", 0.3)
        os.kill(store.pid, signal.SIGKILL)
        while "store_rewrite_failed" not in events(caplog):
            with pytest.raises(StoreUnavailable):
                await race.commit(move("w>t1", 1))
        assert "could not write its files anew" in (opened.guard.why_refused or "")
        monkeypatch.undo()
        waiting = opened.commits.commit(move("w>t1", 1))
        await asyncio.to_thread(obstacle.rmdir)
        assert (await waiting).status is CommitStatus.DONE
        assert events(caplog)[-1] == "store_accepted"
        assert "store_files_rewritten" in events(caplog)
        assert await race.texts() == ["draw", "w>t1"]
