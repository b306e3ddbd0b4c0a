"""The embedded store: one server and one store for each folder, and nothing is lost between runs."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from kit.processes import is_running, listener_of, wait_until_gone
from kit.running_race import ANNA, CODE, running_race
from saratoga_server.embedded_store import append_files, embedded
from saratoga_server.embedded_store.embedded import EmbeddedStore, running_store
from saratoga_server.embedded_store.process import StoreProcess, find_binary
from saratoga_server.embedded_store.socket_path import SOCKET, open_socket_path
from saratoga_server.ports import StoreRefused
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store

SERVER = """
import asyncio, sys
from pathlib import Path
from saratoga_server.embedded_store.embedded import EmbeddedStore

async def main():
    store = EmbeddedStore(Path(sys.argv[1]))
    async with store as url:
        print(store.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An awkward data folder: with spaces, longer than 160 bytes, and not created yet."""
    return tmp_path / "Application Support" / ("long" * 40) / "saratoga"


def killed_server(folder: Path) -> int:
    """Start a server's embedded store in another process and kill the server; return the store's pid."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        server.kill()
    return pid


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


async def test_it_is_fit_to_keep_moves_safe(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url, Durability.SAFE) as store:
        assert "valkey_version" in await store.client.command("INFO")
        await running_race(store)


async def test_it_syncs_every_second_where_that_is_enough(folder: Path) -> None:
    async with EmbeddedStore(folder, Durability.FAST) as url:
        async with open_store(url, Durability.FAST) as store:
            assert store.durability is Durability.FAST
        with pytest.raises(StoreRefused, match="CONFIG SET appendfsync always"):
            async with open_store(url, Durability.SAFE):
                pass


async def test_what_it_holds_is_there_in_the_next_run(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        assert await store.boards.load_board(CODE, 1, ANNA) is not None


async def test_it_stops_with_its_server_and_leaves_no_socket(folder: Path) -> None:
    store = EmbeddedStore(folder)
    async with store:
        pid = store.pid
        assert (folder / SOCKET).is_socket()
    assert not is_running(pid)
    assert not (folder / SOCKET).exists()


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


async def test_a_killed_servers_store_ends_and_what_it_held_is_there(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    pid = await asyncio.to_thread(killed_server, folder)
    await asyncio.to_thread(wait_until_gone, pid)
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        assert await store.boards.load_board(CODE, 1, ANNA) is not None


async def test_the_next_server_need_not_wait_for_a_killed_servers_store(folder: Path) -> None:
    pid = await asyncio.to_thread(killed_server, folder)
    fresh = EmbeddedStore(folder)
    async with fresh as url, open_store(url):
        assert fresh.pid != pid


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


async def test_a_killed_store_is_started_again_on_the_same_address(folder: Path) -> None:
    store = EmbeddedStore(folder)
    async with store as url, open_store(url) as opened:
        race = await running_race(opened)
        killed = store.pid
        os.kill(killed, signal.SIGKILL)
        assert (await race.board()).state == "racing"
        assert not is_running(killed)


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
            while "store_files_rewritten" not in events(caplog):
                await race.board()  # starting the store itself takes some time
        assert events(caplog) == [
            "store_ended",
            *["store_start_failed"] * 3,
            "store_restarted",
            "store_files_rewritten",
        ]
        assert not store.supervision.done()


async def test_a_store_that_cannot_write_its_files_anew_stays_up_and_waits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RESTART_PAUSE", 0.01)
    pauses: asyncio.Queue[float] = asyncio.Queue()
    wait = StoreProcess.wait

    async def recorded(process: StoreProcess, within: float | None = None) -> bool:
        if within not in (None, embedded.CHECK_FILES_EVERY):
            pauses.put_nowait(within or 0.0)
        return await wait(process, within)

    monkeypatch.setattr(StoreProcess, "wait", recorded)
    store = EmbeddedStore(folder)
    async with asyncio.timeout(30), store:
        blocked = folder / append_files.FOLDER / "appendonly.aof.2.base.rdb"
        blocked.mkdir()
        os.kill(store.pid, signal.SIGKILL)
        assert [await pauses.get() for _ in range(3)] == [0.01, 0.02, 0.04]
        running = store.pid
        assert "room for a second copy" in str(store.why_held())
        blocked.rmdir()
        while store.why_held() is not None:  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0)
        assert store.pid == running


async def test_a_store_that_ends_as_soon_as_it_is_up_is_not_started_all_the_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RESTART_PAUSE", 0.5)
    starts: asyncio.Queue[float] = asyncio.Queue()
    start = StoreProcess.start

    async def end_at_once(*given: Any) -> StoreProcess:
        starts.put_nowait(monotonic())
        process = await start(*given)
        os.kill(process.pid, signal.SIGKILL)
        return process

    monkeypatch.setattr(StoreProcess, "start", end_at_once)
    async with EmbeddedStore(folder):
        times = [await starts.get() for _ in range(4)]
    assert all(later - earlier > 0.4 for earlier, later in pairwise(times))


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


async def test_there_is_no_replica(folder: Path) -> None:
    with pytest.raises(StoreRefused, match="no replica"):
        EmbeddedStore(folder, Durability.REPLICATED)
