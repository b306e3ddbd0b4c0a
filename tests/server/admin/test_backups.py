"""Backups as folders: whole or not there, examined, thrown away, and restored into empty stores only."""

from pathlib import Path

import pytest

from kit.cluster import PRIMARIES, running_cluster
from kit.stores import StoreServer
from saratoga_server.admin import backups
from saratoga_server.admin.backups import NOTE, UNFINISHED, BadBackup
from saratoga_server.ports import StoreRefused, StoreUnavailable


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_backup_says_what_it_is(store_server: StoreServer, tmp_path: Path) -> None:
    store_server.ask("SET", "here", "now")
    path, note = await backups.take(store_server.url, tmp_path)
    assert names_in(tmp_path) == [path.name]
    assert backups.examine(path) == note
    assert (note.keys, note.database, len(note.snapshots)) == (1, 0, 1)
    assert note.product in {"Redis", "Valkey"}
    assert path.stat().st_mode & 0o77 == 0


async def test_what_was_backed_up_is_restored_elsewhere(
    store_server: StoreServer, mortal_store: StoreServer, tmp_path: Path
) -> None:
    store_server.ask("SET", "here", "now")
    store_server.ask("SET", "soon", "gone", "PX", "1")
    path, note = await backups.take(store_server.url, tmp_path)
    copied, of = await backups.restore(path, mortal_store.url)
    assert of == note
    assert copied == 1
    assert mortal_store.ask_all("GET", "here").split()[1] == b"now"


async def test_nothing_is_restored_over_something(
    store_server: StoreServer, tmp_path: Path
) -> None:
    store_server.ask("SET", "here", "now")
    path, _ = await backups.take(store_server.url, tmp_path)
    store_server.ask("SET", "here", "later")
    with pytest.raises(StoreRefused, match="is not empty: it holds 1 keys"):
        await backups.restore(path, store_server.url)
    assert store_server.ask_all("GET", "here").split()[1] == b"later"


async def test_a_store_that_takes_no_writes_is_said(
    store_server: StoreServer, mortal_store: StoreServer, tmp_path: Path
) -> None:
    store_server.ask("SET", "here", "now")
    path, _ = await backups.take(store_server.url, tmp_path)
    mortal_store.ask("CONFIG", "SET", "min-replicas-to-write", "1")
    with pytest.raises(StoreUnavailable, match="broke off: NOREPLICAS"):
        await backups.restore(path, mortal_store.url)


async def test_what_was_changed_since_is_no_backup(
    store_server: StoreServer, tmp_path: Path
) -> None:
    path, note = await backups.take(store_server.url, tmp_path)
    file = path / note.snapshots[0].file
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(BadBackup, match="SHA-256 differs"):
        backups.examine(path)
    file.unlink()
    with pytest.raises(BadBackup, match="not whole"):
        backups.examine(path)
    (path / NOTE).write_text("{}")
    with pytest.raises(BadBackup, match="is no backup"):
        backups.examine(path)


async def test_a_backup_that_fails_leaves_nothing(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    assert mortal_store.ask("ACL", "SETUSER", "default", "-sync") == b"+OK"
    with pytest.raises(StoreRefused, match="sends no snapshot: "):
        await backups.take(mortal_store.url, tmp_path)
    assert names_in(tmp_path) == []


def test_the_newest_stay_and_what_was_never_finished_goes(tmp_path: Path) -> None:
    names = [f"saratoga-2026112{day}T040000Z" for day in range(5)]
    for name in (*names, f"saratoga-20261130T040000Z{UNFINISHED}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NOTE).write_text("{}")
    (tmp_path / "my notes").mkdir()
    gone = backups.prune(tmp_path, keep=2)
    assert len(gone) == 4
    assert names_in(tmp_path) == ["my notes", *names[-2:]]


@pytest.mark.parametrize("store_server", ["valkey"], indirect=True)
async def test_a_cluster_is_restored_into_one_store_and_back(
    store_server: StoreServer, tmp_path: Path
) -> None:
    tables = {f"{{p{n}}}:table:{n}": str(n) for n in range(200)}
    with running_cluster(store_server.binary, replicas=False) as cluster:
        for key, value in tables.items():
            assert cluster.owner(key).ask("SET", key, value) == "+OK\r\n"
        out, note = await backups.take(cluster.url, tmp_path / "of the cluster")
        assert len(note.snapshots) == PRIMARIES
        assert (await backups.restore(out, store_server.url))[0] == note.keys == len(tables)
        with pytest.raises(StoreRefused, match="is not empty"):
            await backups.restore(out, cluster.url)
        back, _ = await backups.take(store_server.url, tmp_path / "of the store")
        cluster.empty()
        assert (await backups.restore(back, cluster.url))[0] == len(tables)
        for key, value in tables.items():
            assert cluster.owner(key).ask("GET", key).split()[1] == value
