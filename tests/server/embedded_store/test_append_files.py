"""The append-only files of an embedded store: damage is found before a store overwrites what is left."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.running_race import running_race
from saratoga_server.embedded_store import append_files
from saratoga_server.embedded_store.append_files import (
    FOLDER,
    MANIFEST,
    check_files,
    cut,
    present_files,
    sizes,
)
from saratoga_server.embedded_store.damaged_files import StoreFiles, cuts
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.ledger_file import NAME, read_note, write_note
from saratoga_server.ports import StoreRefused
from saratoga_server.store.opening import open_store

Damage = Callable[[Path], None]


def without_manifest(files: Path) -> None:
    (files / MANIFEST).unlink()


def empty_manifest(files: Path) -> None:
    (files / MANIFEST).write_bytes(b"")


def without_base(files: Path) -> None:
    [base] = files.glob("*.base.rdb")
    base.unlink()


def empty_base(files: Path) -> None:
    [base] = files.glob("*.base.rdb")
    base.write_bytes(b"")


def without_moves(files: Path) -> None:
    [file] = files.glob("*.incr.aof")
    file.unlink()


def strange_name(files: Path) -> None:
    """Let the manifest name a file outside its folder, which exists."""
    [file] = files.glob("*.incr.aof")
    manifest = files / MANIFEST
    manifest.write_text(manifest.read_text().replace(file.name, f"../{FOLDER}/{file.name}"))


def of_two_files(files: Path) -> Path:
    """Begin another file of moves, as a rewrite that failed does; return the earlier one."""
    [file] = files.glob("*.incr.aof")
    content = file.read_bytes()
    place = before_last_write(file)
    file.write_bytes(content[:place])
    (files / "appendonly.aof.2.incr.aof").write_bytes(content[place:])
    with (files / MANIFEST).open("a") as manifest:
        manifest.write("file appendonly.aof.2.incr.aof seq 2 type i\n")
    write_note_of(files.parent)
    return file


def write_note_of(folder: Path) -> None:
    note = read_note(folder)
    assert note is not None
    write_note(folder, replace(note, files=present_files(folder)))


def emptied_earlier_moves(files: Path) -> None:
    of_two_files(files).write_bytes(b"")


def shortened_earlier_moves(files: Path) -> None:
    file = of_two_files(files)
    file.write_bytes(file.read_bytes()[: before_last_write(file)])


def before_last_write(file: Path) -> int:
    return cuts(file.parent.parent, StoreFiles(None, (file.name,)))[-2].length


def unnamed_moves(files: Path) -> None:
    drop_line(files, of_two_files(files).name)


def unnamed_moves_without_a_note(files: Path) -> None:
    unnamed_moves(files)
    (files.parent / NAME).unlink()


def unnamed_base(files: Path) -> None:
    drop_line(files, "appendonly.aof.1.base.rdb")


def unnamed_and_lost_base(files: Path) -> None:
    unnamed_base(files)
    without_base(files)


def drop_line(files: Path, name: str) -> None:
    """Take the line of a file out of the manifest."""
    lines = (files / MANIFEST).read_text().splitlines(keepends=True)
    (files / MANIFEST).write_text("".join(line for line in lines if name not in line))


def without_files(files: Path) -> None:
    for path in files.iterdir():
        path.unlink()


async def used(folder: Path) -> None:
    """Run a store on the folder that holds a race."""
    store = EmbeddedStore(folder)
    async with store as url, open_store(url, memory=store.ledger) as opened:
        await running_race(opened)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / FOLDER).iterdir()}


@pytest.mark.parametrize(
    "damage",
    [
        without_manifest,
        empty_manifest,
        without_base,
        empty_base,
        without_moves,
        strange_name,
        without_files,
        emptied_earlier_moves,
        shortened_earlier_moves,
        unnamed_moves,
        unnamed_moves_without_a_note,
        unnamed_base,
        unnamed_and_lost_base,
    ],
)
async def test_missing_and_emptied_files_are_refused_and_the_rest_is_left_alone(
    tmp_path: Path, damage: Damage
) -> None:
    folder = tmp_path / "store"
    await used(folder)
    damage(folder / FOLDER)
    left = contents(folder)
    with pytest.raises(StoreRefused) as refused:
        await used(folder)
    assert f"saratoga-server admin --data {tmp_path} restore" in str(refused.value)
    assert f"Move {folder} away" in str(refused.value)
    assert contents(folder) == left


async def test_a_first_start_that_was_cut_short_is_begun_again(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    async with EmbeddedStore(folder):
        pass
    without_manifest(folder / FOLDER)
    assert not check_files(folder, is_known=False)
    await used(folder)
    assert read_note(folder) is not None


async def test_several_whole_files_are_taken(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await used(folder)
    of_two_files(folder / FOLDER)
    async with EmbeddedStore(folder):
        pass


async def test_what_a_rewrite_leaves_when_it_is_cut_short_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await used(folder)
    (folder / FOLDER / "appendonly.aof.2.base.rdb").write_bytes(b"REDIS")
    (folder / FOLDER / "appendonly.aof.2.incr.aof").touch()
    (folder / FOLDER / "temp-rewriteaof-bg-7.aof").write_bytes(b"REDIS")
    assert check_files(folder, is_known=True, noted=present_files(folder))


async def test_files_that_a_rewrite_has_replaced_are_not_missed(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "store")
    async with store as url, open_store(url, memory=store.ledger) as opened:
        await running_race(opened)
        before = present_files(tmp_path / "store")
        await append_files.rewrite(url)
    assert check_files(tmp_path / "store", is_known=True, noted=before)
    assert not before.keys() & present_files(tmp_path / "store").keys()


async def test_files_without_a_manifest_are_refused_also_without_a_ledger_file(
    tmp_path: Path,
) -> None:
    await used(tmp_path / "store")
    without_manifest(tmp_path / "store" / FOLDER)
    with pytest.raises(StoreRefused, match="manifest is missing"):
        check_files(tmp_path / "store", is_known=False)


async def test_a_new_folder_holds_no_data_and_a_used_one_does(tmp_path: Path) -> None:
    assert not check_files(tmp_path / "store", is_known=False)
    await used(tmp_path / "store")
    assert check_files(tmp_path / "store", is_known=False)


async def test_a_snapshot_that_was_copied_into_the_folder_is_not_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "our data" / "store"
    async with EmbeddedStore(folder):
        pass
    without_files(folder / FOLDER)
    (folder / "dump.rdb").write_bytes(b"REDIS")
    with pytest.raises(
        StoreRefused, match=r"dump\.rdb is a snapshot.* --data '.*our data' restore"
    ):
        await EmbeddedStore(folder).__aenter__()


def test_the_remedy_can_be_typed_as_it_is_printed() -> None:
    remedy = append_files.remedy_for(Path("/our data/store"))
    assert "`saratoga-server admin --data '/our data' restore BACKUP`" in remedy


def test_a_file_that_became_shorter_was_cut_and_one_that_is_gone_was_replaced(
    tmp_path: Path,
) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "a.incr.aof").write_bytes(b"12345")
    before = sizes(tmp_path)
    assert cut(before, {"a.incr.aof": 3}) == {"a.incr.aof": 2}
    assert cut(before, {"a.incr.aof": 5}) == cut(before, {"a.incr.aof": 9}) == cut(before, {}) == {}


async def test_a_rewrite_moves_everything_into_new_files(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "store")
    async with store as url, open_store(url, memory=store.ledger) as opened:
        race = await running_race(opened)
        before = contents(tmp_path / "store")
        await append_files.rewrite(url)
        after = contents(tmp_path / "store")
        assert after.keys() & before.keys() == {MANIFEST}
        assert await race.texts() == []


async def test_a_rewrite_that_fails_says_so(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path / "store") as url:
        block_rewrite(tmp_path / "store")
        with pytest.raises(StoreRefused, match="could not write its files anew"):
            await append_files.rewrite(url)


def block_rewrite(folder: Path) -> None:
    """Put a folder where the store would put its next base file."""
    (folder / FOLDER / "appendonly.aof.2.base.rdb").mkdir()
