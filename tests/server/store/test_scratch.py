"""A store for a moment, on a snapshot that stays as it was."""

from pathlib import Path

import pytest

from kit.stores import StoreServer
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.ports import StoreRefused
from saratoga_server.store.scratch import open_scratch, program_for
from saratoga_server.store.snapshots import fetch_snapshot


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_what_was_in_the_store_is_read_from_its_snapshot(
    store_server: StoreServer, tmp_path: Path
) -> None:
    store_server.ask("SET", "here", "now")
    path = tmp_path / "s.rdb"
    await fetch_snapshot(store_server.url, path)
    before = path.read_bytes()
    async with open_scratch(Path(store_server.binary), path, 0) as client:
        assert await client.get("here") == b"now"
        await client.set("here", "changed")
    assert path.read_bytes() == before
    assert names_in(tmp_path) == [path.name]


async def test_a_torn_snapshot_is_refused_in_the_stores_own_words(
    store_server: StoreServer, tmp_path: Path
) -> None:
    path = tmp_path / "s.rdb"
    await fetch_snapshot(store_server.url, path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreRefused, match=r"cannot read s\.rdb; it said:"):
        async with open_scratch(Path(store_server.binary), path, 0):
            pass


def test_the_embedded_store_reads_where_nothing_else_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert program_for("Valkey") == find_binary()
    assert program_for("Redis") == find_binary()
