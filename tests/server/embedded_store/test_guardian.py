"""A store that nobody uses ends; one that somebody uses, or may yet take over, does not."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kit.running_race import ANNA, CODE, running_race
from kit.stores import SCRATCH
from saratoga_server.embedded_store import guardian, process
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.store.opening import open_store

HOUSE = """
import asyncio, sys
from pathlib import Path
from saratoga_server.embedded_store.embedded import EmbeddedStore

async def main():
    async with EmbeddedStore(Path(sys.argv[1]), unused_for=float(sys.argv[2])) as url:
        print(url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
SOON = 0.4
"""Seconds."""
WITHIN = 20.0
"""Seconds: a bound, never a measure."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "store"
        yield folder
        note = process.read_note(folder)
        if note is not None:
            try:
                os.kill(note.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


def killed_house(folder: Path, unused_for: float) -> tuple[str, int]:
    """Leave a store behind: where it listens, and its process."""
    with subprocess.Popen(
        [sys.executable, "-c", HOUSE, str(folder), str(unused_for)],
        stdout=subprocess.PIPE,
        text=True,
    ) as house:
        assert house.stdout is not None
        url = house.stdout.readline().strip()
        house.kill()
    return url, json.loads((folder / "store.json").read_text())["pid"]


def ended(pid: int) -> None:
    """Wait until the process is no more."""
    until = time.monotonic() + WITHIN
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until


async def test_a_store_that_nobody_uses_ends_and_what_it_held_is_there(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
    _, pid = killed_house(folder, SOON)
    await asyncio.to_thread(ended, pid)
    assert "Error" not in (folder / "store.log").read_text()
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        assert await store.boards.load_board(CODE, 1, ANNA) is not None


def test_it_ends_though_its_folder_was_deleted(folder: Path) -> None:
    _, pid = killed_house(folder, SOON)
    shutil.rmtree(folder)
    ended(pid)


async def test_a_store_that_somebody_uses_does_not_end(folder: Path) -> None:
    url, pid = killed_house(folder, SOON)
    async with open_store(url) as store:
        # far more looks than it takes
        await asyncio.to_thread(seen, url, looks=3 * guardian.LOOKS)
        assert await store.tables.load_table(CODE) is None
        assert process.is_held(folder)
    await asyncio.to_thread(ended, pid)


async def test_a_store_that_was_taken_over_does_not_end_and_its_guardian_stays(
    folder: Path,
) -> None:
    url, _ = killed_house(folder, SOON)
    heir = EmbeddedStore(folder, unused_for=SOON)
    async with heir as same:
        assert same == url
        await asyncio.to_thread(seen, url, looks=3 * guardian.LOOKS)
        assert process.is_held(folder)
    assert not process.is_held(folder)


def seen(url: str, looks: int) -> None:
    """Wait until the store's only guardian has looked so often."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(url.removeprefix("unix://"))
        first = commands_of_guardian(line)
        until = time.monotonic() + WITHIN
        while commands_of_guardian(line) < first + looks:
            assert time.monotonic() < until


def commands_of_guardian(line: socket.socket) -> int:
    """How often the store was asked who is connected, but by us."""
    line.sendall(b"INFO commandstats\r\n")
    reply = line.recv(65536).decode()
    _, found, rest = reply.partition("cmdstat_client|list:calls=")
    return int(rest.partition(",")[0]) if found else 0


async def test_of_two_guardians_that_see_each_other_the_older_stays(folder: Path) -> None:
    async with EmbeddedStore(folder, unused_for=SOON) as url:
        path = url.removeprefix("unix://")
        await asyncio.to_thread(seen, url, looks=1)
        with closing(guardian.Line(path)) as newer:
            before, _ = guardian.clients(newer.ask(b"CLIENT LIST"))
            await asyncio.to_thread(guardian._stay, newer, 600)
            await asyncio.to_thread(seen, url, looks=3)
            assert guardian.clients(newer.ask(b"CLIENT LIST"))[0] == before
            assert newer.number == max(before)
            assert len(before) == 2


async def test_a_guardian_ends_with_its_store(folder: Path) -> None:
    store = EmbeddedStore(folder, unused_for=SOON)
    async with store as url:
        (own,) = store._guardians
        await asyncio.to_thread(seen, url, looks=1)
        os.kill(store.pid, signal.SIGKILL)
        assert await asyncio.to_thread(own.wait, WITHIN) == 0


def test_a_store_that_never_listens_has_no_guardian(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guardian, "UP_WITHIN", 0.0)
    guardian.main([str(tmp_path / "nothing"), "1"])


def test_a_store_that_hangs_is_not_taken_for_unused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, pid = killed_house(folder, 600)
    monkeypatch.setattr(guardian, "ANSWER_WITHIN", 0.05)
    with closing(guardian.Line(url.removeprefix("unix://"))) as line:
        os.kill(pid, signal.SIGSTOP)
        assert guardian.clients(line.ask(b"CLIENT LIST")) == ([], 0)
        assert line.ask(b"PING") == b""
        os.kill(pid, signal.SIGCONT)
        monkeypatch.setattr(guardian, "ANSWER_WITHIN", WITHIN)
        line.wait(0.001)
        # late answers are not taken for this one
        assert line.ask(b"PING") == b"+PONG"


@pytest.mark.parametrize(
    ("listed", "counted"),
    [
        (b"", ([], 0)),
        (b"-ERR unknown", ([], 0)),
        (b"id=3 addr=/s:0 name=guardian db=0\n", ([3], 0)),
        (b"id=3 addr=/s:0 name=guardian db=0\nid=4 addr=/s:0 name= db=0\n", ([3], 1)),
        (
            b"id=3 name=guardian db=0\nid=4 name=guardian db=0\nid=5 name=guardians db=0\n",
            ([3, 4], 1),
        ),
    ],
)
def test_guardians_are_told_from_those_who_use_the_store(
    listed: bytes, counted: tuple[list[int], int]
) -> None:
    assert guardian.clients(listed) == counted
