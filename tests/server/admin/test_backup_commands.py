"""`admin backup` and `admin restore` as an administrator types them."""

import asyncio
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.running_race import CODE, running_race
from saratoga_server.__main__ import main
from saratoga_server.config import Config
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.store.opening import open_store

EXTERNAL = "redis://:hunter2@store.example.org"


def typed(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["admin", *map(str, words)])
    return result.exit_code, result.output


async def typed_beside_a_server(data: Path, *words: str | Path) -> tuple[int, str]:
    """Run a command while a server with a race is running; return its exit code and output."""
    folder = Config(data=data).store_folder
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
        # the command has an event loop of its own, so it needs a thread of its own
        return await asyncio.to_thread(typed, "--data", data, *words)


async def tables_in(data: Path) -> list[str]:
    folder = Config(data=data).store_folder
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        return [code async for code in store.tables.all_codes()]


def test_out_into_a_folder_and_back_into_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, told = asyncio.run(typed_beside_a_server(Path("data"), "backup", "b", "--keep", "3"))
    assert code == 0, told
    (backup,) = Path("b").iterdir()
    code, told = typed("restore", "--check", backup)
    assert (code, "complete, " in told) == (0, True)
    code, told = typed("--data", "new", "restore", backup)
    assert (code, "keys restored into new/store, as of 20" in told) == (0, True), told
    assert asyncio.run(tables_in(Path("new"))) == [CODE]
    code, told = typed("--data", "new", "restore", backup)
    assert (code, "new/store is not empty" in told) == (1, True), told


def test_a_backup_that_looks_newer_than_the_one_just_taken_is_named(tmp_path: Path) -> None:
    (tmp_path / "b" / "saratoga-29991231T040000Z").mkdir(parents=True)
    code, told = asyncio.run(typed_beside_a_server(tmp_path / "data", "backup", tmp_path / "b"))
    assert (code, "saratoga-29991231T040000Z: its date is later" in told) == (0, True), told


def test_there_is_nothing_to_back_up_where_nothing_runs(tmp_path: Path) -> None:
    code, told = typed("--data", tmp_path, "backup", tmp_path / "b")
    assert (code, "No server runs on" in told) == (1, True)


@pytest.mark.parametrize(
    "words",
    [("backup", "b"), ("restore", "."), ("tables",)],
)
def test_a_folder_of_another_user_is_left_to_that_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Config(data=tmp_path / "data").store_folder
    folder.mkdir(mode=0o700, parents=True)
    (folder / "appendonlydir").mkdir()
    (folder / "appendonlydir" / "appendonly.aof.1.incr.aof").write_bytes(b"*")
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    code, told = typed("--data", tmp_path / "data", *words)
    assert (code, f"{folder} belongs to another user. Run this command as " in told) == (1, True)


@pytest.mark.parametrize("words", [("backup", "b"), ("restore", ".")])
def test_another_store_is_left_to_its_own_tools_which_are_named(words: tuple[str, str]) -> None:
    code, told = typed("--redis", EXTERNAL, *words)
    assert code == 1
    assert "for the embedded store" in told
    assert "deploy/RUNBOOK.md" in told
    assert "hunter2" not in told


def test_what_is_no_backup_is_said(tmp_path: Path) -> None:
    code, told = typed("restore", "--check", tmp_path)
    assert (code, "is not a backup" in told) == (1, True)
