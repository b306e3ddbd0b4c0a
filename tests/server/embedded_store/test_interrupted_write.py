"""An interrupted write is cut off the newest file, and the file as it was is kept for a time."""

from pathlib import Path

from saratoga_server.embedded_store.append_files import FOLDER, MANIFEST
from saratoga_server.embedded_store.interrupted_write import (
    COPIES_KEPT,
    cut_interrupted_write,
    delete_old_copies,
)

WRITE = b"*1\r\n$4\r\nPING\r\n"
FIRST, SECOND = "appendonly.aof.1.incr.aof", "appendonly.aof.2.incr.aof"


def folder_of(folder: Path, files: dict[str, bytes]) -> Path:
    (folder / FOLDER).mkdir()
    for name, content in files.items():
        (folder / FOLDER / name).write_bytes(content)
    lines = [f"file {name} seq {1 + at} type i\n" for at, name in enumerate(files)]
    (folder / FOLDER / MANIFEST).write_text("".join(lines))
    return folder


def test_an_interrupted_write_is_cut_off_and_put_back(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {FIRST: WRITE, SECOND: WRITE + WRITE[:5]})
    cut = cut_interrupted_write(folder)
    assert cut is not None
    assert (cut.path.name, cut.path.read_bytes(), cut.bytes) == (SECOND, WRITE, 5)
    assert cut.copy.read_bytes() == WRITE + WRITE[:5]
    cut.undo()
    assert cut.path.read_bytes() == WRITE + WRITE[:5]
    assert not cut.copy.exists()


def test_only_the_newest_file_is_cut(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {FIRST: WRITE[:5], SECOND: WRITE})
    assert cut_interrupted_write(folder) is None
    assert (folder / FOLDER / FIRST).read_bytes() == WRITE[:5]


def test_only_the_newest_copies_are_kept(tmp_path: Path) -> None:
    copies = [f"appendonly.aof.{9 + day}.incr.aof.cut-2026112{day}T000000Z" for day in range(5)]
    folder = folder_of(tmp_path, {FIRST: WRITE, **dict.fromkeys(copies, b"")})
    delete_old_copies(folder, folder / FOLDER / copies[-1])
    assert copies_in(folder) == copies[-COPIES_KEPT:]


def test_the_copy_of_the_present_cut_is_kept_while_others_are_dated_in_the_future(
    tmp_path: Path,
) -> None:
    ahead = [f"appendonly.aof.{day}.incr.aof.cut-2099112{day}T000000Z" for day in range(1, 6)]
    newest = "appendonly.aof.9.incr.aof.cut-20261121T000000Z"
    folder = folder_of(tmp_path, {FIRST: WRITE, **dict.fromkeys([*ahead, newest], b"")})
    delete_old_copies(folder, folder / FOLDER / newest)
    assert copies_in(folder) == [*ahead[1 - COPIES_KEPT :], newest]


def copies_in(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / FOLDER).glob("*.cut-*"))
