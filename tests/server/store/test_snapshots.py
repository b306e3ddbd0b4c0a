"""A snapshot over the store's own connection: whole, of that moment, and no replica to anybody."""

import asyncio
from pathlib import Path

import pytest

from kit.stores import StoreServer
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.snapshots import fetch_snapshot


async def test_a_snapshot_is_a_file_of_the_stores_own_kind(
    store_server: StoreServer, tmp_path: Path
) -> None:
    store_server.ask("SET", "here", "now")
    snapshot = await fetch_snapshot(store_server.url, tmp_path / "s.rdb")
    held = (tmp_path / "s.rdb").read_bytes()
    assert held.startswith((b"REDIS", b"VALKEY"))
    assert snapshot.size == len(held)
    assert b"here" in held


async def test_a_snapshot_of_a_known_size_is_read_too(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    mortal_store.ask("CONFIG", "SET", "repl-diskless-sync", "no")
    snapshot = await fetch_snapshot(mortal_store.url, tmp_path / "s.rdb")
    assert snapshot.size == (tmp_path / "s.rdb").stat().st_size > 0


async def test_a_wrong_password_is_said(mortal_store: StoreServer, tmp_path: Path) -> None:
    mortal_store.ask("CONFIG", "SET", "requirepass", "secret")
    url = mortal_store.url.replace("unix://", "unix://:wrong@")
    with pytest.raises(StoreRefused, match="no snapshot: WRONGPASS"):
        await fetch_snapshot(url, tmp_path / "s.rdb")
    await fetch_snapshot(url.replace("wrong", "secret"), tmp_path / "s.rdb")


async def test_a_store_that_dies_meanwhile_is_no_snapshot(tmp_path: Path) -> None:
    async def dies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"+OK\r\n+OK\r\n\n\n$100\r\nREDIS")
        writer.close()
        await writer.wait_closed()

    socket = tmp_path / "s"
    async with await asyncio.start_unix_server(dies, socket):
        with pytest.raises(StoreUnavailable, match="ended before its snapshot did"):
            await fetch_snapshot(f"unix://{socket}", tmp_path / "s.rdb")


async def test_nobody_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        await fetch_snapshot(f"unix://{tmp_path}/none", tmp_path / "s.rdb")
