"""The ledger file beside the embedded store's data."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from saratoga_server.embedded_store import ledger_file
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.ledger_file import (
    NAME,
    LedgerFile,
    LedgerNote,
    read_note,
    write_note,
)
from saratoga_server.ports import StoreRefused
from saratoga_server.store.ledger import LedgerEntry

NOTE = LedgerNote("one", 7)
ENTRY = LedgerEntry("one", 7)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert read_note(tmp_path) is None
    write_note(tmp_path, NOTE)
    assert read_note(tmp_path) == NOTE
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


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
    assert file.recall() == LedgerEntry("one", 2)
    monkeypatch.setattr(ledger_file, "WRITE_EVERY", 0.0)
    await file.remember(LedgerEntry("one", 3))
    assert read_note(tmp_path) == LedgerNote("one", 3)


async def test_the_file_says_whether_the_store_was_shut_down_in_order(tmp_path: Path) -> None:
    write_note(tmp_path, NOTE)
    file = LedgerFile(tmp_path)
    assert not await file.open()
    await file.close(clean=True)
    again = LedgerFile(tmp_path)
    assert await again.open()
    assert read_note(tmp_path) == replace(NOTE, clean=True)
    await again.note_use()
    assert read_note(tmp_path) == NOTE
    assert again.recall() == ENTRY


async def test_a_file_that_cannot_be_written_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = LedgerFile(tmp_path / "gone")
    with caplog.at_level(logging.ERROR, "saratoga"):
        await file.remember(ENTRY)
    assert "store_ledger_not_written" in caplog.text
    assert file.recall() == ENTRY


async def test_a_store_whose_use_cannot_be_noted_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    async with EmbeddedStore(folder):
        pass
    write_note(folder, replace(NOTE, clean=True))
    (folder / f"{NAME}.new").mkdir()
    with pytest.raises(StoreRefused, match=r"cannot hold the store .*ledger\.json\.new"):
        await EmbeddedStore(folder).__aenter__()
    assert read_note(folder) == replace(NOTE, clean=True)


async def test_a_write_waits_for_one_whose_caller_was_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    def slowly(folder: Path, note: LedgerNote) -> None:
        begun.set()
        may_go_on.wait()
        write_note(folder, note)

    file = LedgerFile(tmp_path)
    monkeypatch.setattr(ledger_file, "write_note", slowly)
    first = asyncio.create_task(file.remember(ENTRY))
    await asyncio.to_thread(begun.wait)
    first.cancel()
    await asyncio.wait([first])
    monkeypatch.undo()
    last = asyncio.create_task(file.close(clean=True))
    done, _ = await asyncio.wait([last], timeout=0.2)
    assert not done
    may_go_on.set()
    await last
    assert read_note(tmp_path) == replace(NOTE, clean=True)
