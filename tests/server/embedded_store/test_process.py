"""The process of the embedded store, its folder, its socket, and what its folder remembers."""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from msgspec.structs import replace

from kit.server_process import GONE_WITHIN, is_running, wait_until_gone
from kit.stores import wait_until
from saratoga_server.embedded_store import ledger_file, process
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.ledger_file import (
    NAME,
    LedgerFile,
    LedgerNote,
    read_note,
    write_note,
)
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.store_folder import (
    LOOK_AGAIN,
    PATH_LIMIT,
    SOCKET,
    ask,
    is_private,
    lock_for_server,
    locked,
    make_private,
    open_socket_path,
    refuse_other_user,
    url_of,
)
from saratoga_server.ports import LedgerEntry, StoreRefused
from saratoga_server.store.client import open_client

# A store as a child process starts or reports an error, and ends with its parent


PARENT = """
import asyncio
from pathlib import Path
from saratoga_server.embedded_store.process import StoreProcess

async def main():
    folder = Path.cwd()
    settings = {"appendonly": "yes", "appendfsync": "everysec"}
    with open("lock", "w") as lock:
        store = await StoreProcess.start(folder, "store.sock", settings, lock)
        print(store.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


KILLED_AFTER_FORK = (
    """
import fcntl, os, sys

def kill(event, given):
    if event == "fcntl.fcntl" and given[1] == fcntl.F_SETOWN:
        os.kill(os.getpid(), 9)

sys.addaudithook(kill)
"""
    + PARENT
)
"""A program that dies after its child has started, before the kernel is set to end the child."""


def wait_until_unlocked(path: Path) -> None:
    """Wait until no process holds the file's lock."""
    with path.open("a") as file:

        def locks() -> bool:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            return False

        wait_until(locks, f"{path} stays locked")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, so that the socket has a short path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def start(folder: Path, **settings: str) -> StoreProcess:
    with (folder / "lock").open("a") as lock:
        return await StoreProcess.start(folder, SOCKET, {"appendonly": "no"} | settings, lock)


def killed_parent(folder: Path) -> int:
    """Start a store in another process and kill that process; return the store's process id."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    return pid


async def test_a_store_that_does_not_end_in_time_is_killed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP_WITHIN", 0.05)
    store = await start(folder)
    os.kill(store.pid, signal.SIGSTOP)
    await store.stop()
    assert not is_running(store.pid)


async def test_a_store_that_does_not_come_up_is_refused_in_its_own_words(folder: Path) -> None:
    with pytest.raises(StoreRefused, match="noise"):
        await start(folder, noise="loud")


async def test_a_long_log_is_put_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOG_LIMIT", 3)
    (folder / "store.log").write_text("long")
    await (await start(folder)).stop()
    assert (folder / "store.log.old").read_text() == "long"


async def test_a_killed_parents_store_writes_everything_and_ends(folder: Path) -> None:
    pid = await asyncio.to_thread(killed_parent, folder)
    await asyncio.to_thread(wait_until_gone, pid)
    assert "bye bye" in (folder / "store.log").read_text()
    assert not (folder / SOCKET).exists()


async def test_a_parent_killed_while_it_starts_a_store_leaves_none(folder: Path) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED_AFTER_FORK)
    assert await parent.wait() == -signal.SIGKILL
    await asyncio.to_thread(wait_until_unlocked, folder / "lock")
    assert (folder / "store.log").read_text() == ""


async def test_a_store_ends_with_its_parent_while_it_makes_its_first_append_only_file(
    folder: Path,
) -> None:
    """A store refuses to end while it cannot save, unless it is forced."""
    # with this setting every key delays the store's child process by ten seconds
    store = await start(folder, **{"rdb-key-save-delay": "10000000"})
    with open_socket_path(folder) as path:
        client = open_client(url_of(path))
        await client.set("a", "b")
        await client.config_set("appendonly", "yes")
        await client.aclose(close_connection_pool=True)
    os.kill(store.pid, signal.SIGTERM)
    async with asyncio.timeout(GONE_WITHIN):
        await store.wait()
    await store.stop()


# The folder of an embedded store belongs to one user and one server; its socket has a short path


def test_a_folder_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    with pytest.raises(StoreRefused, match="belongs to another user or is open to others"):
        make_private(Path("/tmp"))


async def test_a_folder_belongs_to_one_server(tmp_path: Path) -> None:
    with await lock_for_server(tmp_path):
        with pytest.raises(StoreRefused, match=f"another server, process {os.getpid()}"):
            await lock_for_server(tmp_path)
        assert await locked(tmp_path / "server.lock", within=LOOK_AGAIN) is None
    with await lock_for_server(tmp_path):
        pass


def test_a_folder_that_root_would_create_belongs_to_the_user_of_the_one_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tmp_path / "data" / "store"
    refuse_other_user(new)
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    refuse_other_user(new)
    with pytest.raises(StoreRefused, match=f"{tmp_path} belongs to another user"):
        refuse_other_user(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    other_user_owns(monkeypatch)
    with pytest.raises(StoreRefused, match=f"{tmp_path} belongs to another user.* uid-4000000000"):
        refuse_other_user(new)


def other_user_owns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file belong to another user."""
    stat = Path.stat

    def stat_of_another_user(path: Path) -> os.stat_result:
        values = list(stat(path))
        values[4] = 4_000_000_000
        return os.stat_result(values)

    monkeypatch.setattr(Path, "stat", stat_of_another_user)


def test_a_long_folders_socket_is_reached_by_a_private_link_that_is_removed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / ("long name " * 16)
    folder.mkdir()
    with open_socket_path(folder) as path:
        assert len(os.fsencode(path)) <= PATH_LIMIT
        assert Path(path).readlink() == folder.resolve() / SOCKET
        assert is_private(Path(path).parent)
    assert not Path(path).parent.exists()


def test_any_character_of_a_path_stands_in_the_address() -> None:
    path = "/my data/50%/a,b?c#d/store.sock"
    parts = urlsplit(url_of(path))
    assert (parts.scheme, unquote(parts.path), parts.query) == ("unix", path, "")


async def test_a_store_that_hangs_gives_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.embedded_store.store_folder.ANSWER_WITHIN", 0.05)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(SOCKET)
        listening.listen()
        assert await ask(SOCKET, b"PING") == b""


# The ledger file beside the embedded store's data


NOTE = LedgerNote("one", 7)
ENTRY = LedgerEntry("one", 7)


def test_a_file_that_cannot_be_read_counts_as_missing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / NAME).write_text("{")
    assert read_note(tmp_path) is None
    assert "store_ledger_unreadable" in caplog.text


async def test_a_new_generation_is_written_at_once_and_a_raise_only_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = LedgerFile(tmp_path)
    assert not await file.open()
    await file.remember(LedgerEntry("one", 1))
    await file.remember(LedgerEntry("one", 2))
    assert read_note(tmp_path) == LedgerNote("one", 1)
    assert file.entry == LedgerEntry("one", 2)
    monkeypatch.setattr(ledger_file, "WRITE_EVERY", 0.0)
    await file.remember(LedgerEntry("one", 3))
    assert read_note(tmp_path) == LedgerNote("one", 3)


async def test_a_file_that_cannot_be_written_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = LedgerFile(tmp_path / "gone")
    with caplog.at_level(logging.ERROR, "saratoga"):
        await file.remember(ENTRY)
    assert "store_ledger_not_written" in caplog.text
    assert file.entry == ENTRY


async def test_a_store_whose_use_cannot_be_noted_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    async with EmbeddedStore(folder):
        pass
    write_note(folder, replace(NOTE, clean=True))
    (folder / f"{NAME}.new").mkdir()
    with pytest.raises(StoreRefused, match=r"cannot hold the store .*ledger\.json\.new"):
        await EmbeddedStore(folder).__aenter__()
    assert read_note(folder) == replace(NOTE, clean=True)
