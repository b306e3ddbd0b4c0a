"""Which append-only files belong together, and where they can be cut."""

from pathlib import Path

import pytest

from saratoga_server.embedded_store.append_files import FOLDER, MANIFEST
from saratoga_server.embedded_store.damaged_files import (
    Cut,
    StoreFiles,
    candidates,
    cuts,
    lay_out,
    of_manifest,
)

SET = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\r\n*1\r\n"
MULTI, EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"
BASE, OLD_BASE = "appendonly.aof.2.base.rdb", "appendonly.aof.1.base.rdb"
FIRST, SECOND = "appendonly.aof.1.incr.aof", "appendonly.aof.2.incr.aof"


def folder_of(folder: Path, files: dict[str, bytes]) -> Path:
    (folder / FOLDER).mkdir(parents=True)
    for name, content in files.items():
        (folder / FOLDER / name).write_bytes(content)
    return folder


def test_the_manifest_comes_first_if_all_its_files_are_there(tmp_path: Path) -> None:
    manifest = f"file {BASE} seq 2 type b\nfile {FIRST} seq 1 type h\nfile {SECOND} seq 2 type i\n"
    files = {BASE: b"REDIS", FIRST: SET, SECOND: SET, MANIFEST: manifest.encode()}
    folder = folder_of(tmp_path, files)
    assert candidates(folder)[0] == of_manifest(folder) == StoreFiles(BASE, (SECOND,))
    (folder / FOLDER / SECOND).unlink()
    assert of_manifest(folder) is None


def test_an_older_file_of_writes_is_no_reason_to_doubt_the_manifest(tmp_path: Path) -> None:
    manifest = f"file {BASE} seq 2 type b\nfile {SECOND} seq 2 type i\n"
    files = {BASE: b"REDIS", FIRST: SET, SECOND: SET, MANIFEST: manifest.encode()}
    folder = folder_of(tmp_path, files)
    whole = StoreFiles(BASE, (FIRST, SECOND))
    assert candidates(folder, {BASE: 5, SECOND: 9})[:2] == [StoreFiles(BASE, (SECOND,)), whole]
    # the manifest did name it, and no rewrite has replaced it
    assert candidates(folder, {BASE: 5, FIRST: 9, SECOND: 9})[0] == whole


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/hostname", "appendonly.aof", f"../{FOLDER}/{SECOND}"]
)
def test_a_manifest_with_another_name_is_no_manifest(tmp_path: Path, name: str) -> None:
    manifest = f"file {BASE} seq 2 type b\nfile {name} seq 2 type i\n".encode()
    files = {BASE: b"REDIS", SECOND: SET, "../outside": SET, "appendonly.aof": SET}
    folder = folder_of(tmp_path, {**files, MANIFEST: manifest})
    assert of_manifest(folder) is None
    assert candidates(folder)[0] == StoreFiles(BASE, (SECOND,))


def test_without_a_manifest_the_oldest_base_and_all_writes_come_first(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {BASE: b"REDIS", OLD_BASE: b"REDIS", SECOND: SET, FIRST: SET})
    assert candidates(folder) == [
        StoreFiles(OLD_BASE, (FIRST, SECOND)),
        StoreFiles(BASE, (FIRST, SECOND)),
        StoreFiles(None, (FIRST, SECOND)),
    ]


def test_an_empty_base_is_no_base(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {BASE: b"", FIRST: SET})
    assert candidates(folder) == [StoreFiles(None, (FIRST,))]


def test_other_files_and_no_files_give_nothing(tmp_path: Path) -> None:
    assert candidates(tmp_path) == []
    assert candidates(folder_of(tmp_path, {"temp-rewriteaof-1.aof": SET})) == []


@pytest.mark.parametrize(
    ("content", "ends"),
    [
        (b"", []),
        (SET + SET, [len(SET), 2 * len(SET)]),
        (SET[:-1], []),
        (SET + SET[:-4], [len(SET)]),
        (MULTI + SET + EXEC + SET, [len(MULTI + SET + EXEC), len(MULTI + SET + EXEC + SET)]),
        (SET + MULTI + SET, [len(SET)]),
        (SET + b"*x\r\n" + SET, [len(SET)]),
        (SET + SET.replace(b"$3", b"$4") + SET, [len(SET)]),
        (SET + bytes(40), [len(SET)]),
    ],
)
def test_the_writes_end_where_the_next_begins(
    tmp_path: Path, content: bytes, ends: list[int]
) -> None:
    folder = folder_of(tmp_path, {FIRST: content})
    found = cuts(folder, StoreFiles(None, (FIRST,)))
    assert found == [Cut(0, end) for end in (0, *ends)]


def test_a_damaged_file_hides_the_files_behind_it(tmp_path: Path) -> None:
    files = StoreFiles(None, (FIRST, SECOND))
    whole = folder_of(tmp_path / "whole", {FIRST: SET, SECOND: SET})
    assert cuts(whole, files)[-1] == Cut(1, len(SET))
    damaged = folder_of(tmp_path / "damaged", {FIRST: SET + b"x", SECOND: SET})
    assert cuts(damaged, files)[-1] == Cut(0, len(SET))


def test_the_copy_has_what_is_before_the_cut_and_a_manifest_of_it(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "source", {BASE: b"REDIS", FIRST: SET + SET, SECOND: SET})
    target = folder_of(tmp_path / "target", {"old": b""})
    lay_out(source, target, StoreFiles(BASE, (FIRST, SECOND)), Cut(0, len(SET)))
    assert (target / FOLDER / FIRST).read_bytes() == SET
    assert of_manifest(target) == StoreFiles(BASE, (FIRST,))
    assert not (target / FOLDER / "old").exists()
