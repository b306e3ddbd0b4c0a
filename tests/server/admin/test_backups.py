"""Backups of the embedded store: complete or absent, checked, deleted, and restored into new folders only."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from kit.tables import ANN, BEN, CODE, seated
from saratoga_server.admin import backups
from saratoga_server.admin.backups import NOTE, UNFINISHED, BadBackup
from saratoga_server.domain.tables import unpack
from saratoga_server.embedded_store.append_files import SNAPSHOT
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.ledger_file import read_note
from saratoga_server.ports import STORE_FORMAT, StoreRefused
from saratoga_server.store.client import open_client
from saratoga_server.store.keys import LEDGER
from saratoga_server.store.opening import open_store
from saratoga_server.store.tables import TableWrite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an embedded store."""
    return tmp_path / "data" / "store"


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator["Redis"]:
    async with EmbeddedStore(folder) as url:
        client = open_client(url)
        try:
            yield client
        finally:
            await client.aclose(close_connection_pool=True)
            await asyncio.sleep(0)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_backup_says_what_it_is(folder: Path, tmp_path: Path) -> None:
    async with running(folder) as client:
        await client.set("here", "now")
        (tmp_path / "backups").mkdir(mode=0o755)
        path, note = await backups.take(folder, tmp_path / "backups")
        assert not (folder / SNAPSHOT).exists()
    assert names_in(tmp_path / "backups") == [path.name]
    assert names_in(path) == [NOTE, SNAPSHOT]
    assert backups.examine(path) == note
    assert note.store_version.startswith("Valkey ")
    assert path.stat().st_mode & 0o777 == 0o700
    assert {(path / name).stat().st_mode & 0o777 for name in names_in(path)} == {0o600}


async def test_what_was_backed_up_is_restored_and_kept_from_then_on(
    folder: Path, tmp_path: Path
) -> None:
    async with running(folder) as client:
        await client.set("here", "now")
        await client.set("soon", "gone", px=1)
        path, note = await backups.take(folder, tmp_path / "backups")
        await client.set("here", "later")
    fresh = tmp_path / "other data" / ("long" * 30) / "store"
    keys, restored = await backups.restore(path, fresh)
    assert (keys, restored) == (1, note)
    assert names_in(fresh.parent) == ["store"]
    async with running(fresh) as client:
        assert await client.get("here") == b"now"
        await client.set("more", "kept")
    async with running(fresh) as client:
        assert await client.mget("here", "more") == [b"now", b"kept"]


async def test_a_restored_table_is_closed_because_players_may_have_seen_its_next_race(
    folder: Path, tmp_path: Path
) -> None:
    table = seated(ANN, BEN)
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        write = TableWrite(version=0, before=table, after=table)
        assert await store.tables.save_table(write) is None
        path, _ = await backups.take(folder, tmp_path / "backups")
    await backups.restore(path, tmp_path / "fresh")
    async with EmbeddedStore(tmp_path / "fresh") as url, open_store(url) as store:
        stored = await store.tables.load_table(CODE)
        assert stored is not None
        assert unpack(stored[1]).phase == "closed"


async def test_a_restored_store_has_another_generation(folder: Path, tmp_path: Path) -> None:
    async with running(folder) as client:
        for field, value in (("format", STORE_FORMAT), ("generation", "one"), ("sequence", 7)):
            await client.hset(LEDGER, field, value)
        path, _ = await backups.take(folder, tmp_path / "backups")
    await backups.restore(path, tmp_path / "fresh")
    ledger = read_note(tmp_path / "fresh")
    assert ledger is not None
    assert ledger.generation not in ("", "one")
    store = EmbeddedStore(tmp_path / "fresh")
    async with store as url, open_store(url, memory=store.ledger) as opened:
        assert opened.guard.why_refused is None
        known = store.ledger.entry
        assert known is not None
        assert (known.generation, known.sequence > 7) == (ledger.generation, True)


async def test_a_restore_that_breaks_off_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    async with running(folder):
        path, note = await backups.take(folder, tmp_path / "backups")
    ruined = b"REDIS0011" + os.urandom(note.size)
    (path / SNAPSHOT).write_bytes(ruined)
    told = (path / NOTE).read_text()
    (path / NOTE).write_text(told.replace(note.sha256, hashlib.sha256(ruined).hexdigest()))
    with pytest.raises(StoreRefused, match="did not start"):
        await backups.restore(path, tmp_path / "other" / "store")
    assert names_in(tmp_path / "other") == []


async def test_what_was_changed_since_is_no_backup(folder: Path, tmp_path: Path) -> None:
    async with running(folder):
        path, _ = await backups.take(folder, tmp_path / "backups")
    file = path / SNAPSHOT
    file.write_bytes(file.read_bytes()[:-1] + bytes([file.read_bytes()[-1] ^ 1]))
    with pytest.raises(BadBackup, match="SHA-256 differs"):
        backups.examine(path)
    file.unlink()
    with pytest.raises(BadBackup, match="not complete"):
        backups.examine(path)


async def test_a_backup_that_fails_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    async with running(folder):
        # the store cannot write its snapshot to this place
        (folder / SNAPSHOT / "in the way").mkdir(parents=True)
        with pytest.raises(StoreRefused, match="could not write a snapshot"):
            await backups.take(folder, tmp_path / "backups")
    assert names_in(tmp_path / "backups") == []


async def test_of_two_backups_at_once_one_may_fail_but_none_is_incomplete(
    folder: Path, tmp_path: Path
) -> None:
    async with running(folder) as client:
        await client.set("here", "now")
        taken = await asyncio.gather(
            backups.take(folder, tmp_path / "one"),
            backups.take(folder, tmp_path / "two"),
            return_exceptions=True,
        )
    complete = [each for each in taken if not isinstance(each, BaseException)]
    assert complete
    assert all(isinstance(each, StoreRefused) for each in taken if each not in complete)
    for path, note in complete:
        assert backups.examine(path) == note


async def test_a_backup_waits_while_the_store_rewrites_its_file(
    folder: Path, tmp_path: Path
) -> None:
    async with running(folder) as client:
        await client.mset({str(number): number for number in range(100)})
        # a rewrite of the file takes the store's child process a fifth of a second
        await client.config_set("rdb-key-save-delay", 2000)
        await client.bgrewriteaof()
        assert (await client.info("persistence"))["aof_rewrite_in_progress"]
        path, _ = await backups.take(folder, tmp_path / "backups")
    assert (await backups.restore(path, tmp_path / "fresh"))[0] == 100


def backups_of(folder: Path, *days: str) -> list[Path]:
    """Make folders with the names of backups."""
    paths = [folder / f"saratoga-{day}T040000Z" for day in days]
    for path in paths:
        path.mkdir()
    return paths


def test_the_newest_stay_and_what_was_never_finished_goes(tmp_path: Path) -> None:
    paths = backups_of(tmp_path, *(f"2026112{day}" for day in range(1, 6)))
    unfinished = tmp_path / f"saratoga-20261130T040000Z{UNFINISHED}"
    unfinished.mkdir()
    others = ["my notes", "saratoga-notes", "saratoga-x1y2z3"]
    for name in others:
        (tmp_path / name).mkdir()
    assert backups.prune(paths[-1], keep=9) == [unfinished]
    assert backups.prune(paths[-1], keep=2) == paths[:3]
    assert names_in(tmp_path) == sorted([*others, paths[3].name, paths[4].name])


def test_a_backup_is_not_deleted_by_the_run_that_took_it(tmp_path: Path) -> None:
    """The others were taken while the clock was ahead."""
    new, *ahead = backups_of(tmp_path, "20261121", "20991121", "20991122")
    assert backups.prune(new, keep=1) == ahead
    assert names_in(tmp_path) == [new.name]
