"""`admin repair` as an administrator types it."""

import asyncio
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.running_race import CODE, running_race
from saratoga_server.__main__ import main
from saratoga_server.config import Config
from saratoga_server.embedded_store.append_files import FOLDER, MANIFEST
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.store.opening import open_store


def typed(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["admin", *map(str, words)])
    return result.exit_code, result.output


async def filled(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)


async def codes(folder: Path) -> list[str]:
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        return [code async for code in store.tables.all_codes()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store's folder without its manifest."""
    folder = Config(data=tmp_path / "our data").store_folder
    asyncio.run(filled(folder))
    (folder / FOLDER / MANIFEST).unlink()
    return folder


def test_the_commands_that_are_printed_put_the_repaired_store_in_place(folder: Path) -> None:
    code, told = typed("--data", folder.parent, "repair")
    assert code == 0, told
    assert "Recovered: 1 tables, 0 finished races" in told
    commands = [line.strip() for line in told.splitlines() if line.startswith("  mv ")]
    assert len(commands) == 2
    for command in commands:
        subprocess.run(shlex.split(command), check=True)
    assert asyncio.run(codes(folder)) == [CODE]
    assert len(list(folder.parent.glob("store.damaged-*"))) == 1


def test_yes_puts_the_repaired_store_in_place_and_keeps_the_damaged_one(folder: Path) -> None:
    code, told = typed("--data", folder.parent, "repair", "--yes")
    assert (code, "is in place" in told) == (0, True), told
    assert asyncio.run(codes(folder)) == [CODE]
    (damaged,) = folder.parent.glob("store.damaged-*")
    assert not (damaged / FOLDER / MANIFEST).exists()


async def opened_once(folder: Path) -> None:
    async with EmbeddedStore(folder) as url, open_store(url):
        pass


def test_a_store_that_needs_no_repair_is_left_alone(tmp_path: Path) -> None:
    folder = Config(data=tmp_path).store_folder
    asyncio.run(opened_once(folder))
    code, told = typed("--data", tmp_path, "repair", "--yes")
    assert (code, "Nothing is damaged or missing" in told) == (0, True), told
    assert list(folder.parent.iterdir()) == [folder]


def test_there_is_nothing_to_repair_in_an_empty_folder(tmp_path: Path) -> None:
    code, told = typed("--data", tmp_path, "repair")
    assert (code, "has no files of a store" in told) == (1, True), told


def test_another_store_is_left_to_its_own_tools() -> None:
    code, told = typed("--redis", "redis://store.example.org", "repair")
    assert (code, "This command is for the embedded store" in told) == (1, True), told
