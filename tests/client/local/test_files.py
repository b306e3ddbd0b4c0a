import os
from pathlib import Path

import pytest

from saratoga_client.local.files import (
    OWNER_ONLY,
    create_file,
    delete_oldest,
    link_or_rename,
    newest_first,
    replace_file,
)


def test_a_replaced_file_has_the_new_content_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    replace_file(path, b"old")
    path.chmod(0o640)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_secret_file_and_the_folders_made_for_it_are_for_their_owner_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "data" / "witness" / "race.json"
    replace_file(path, b"nonce", mode=OWNER_ONLY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_secret_file_that_others_could_read_is_for_its_owner_alone_when_replaced(
    tmp_path: Path,
) -> None:
    path = tmp_path / "race.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_file(path, b"nonce", mode=OWNER_ONLY)
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_existing_file_is_never_overwritten_by_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    create_file(path, b"first", mode=OWNER_ONLY)
    with pytest.raises(FileExistsError):
        create_file(path, b"second", mode=OWNER_ONLY)
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_made_where_the_file_system_has_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(self: Path, target: Path) -> None:
        raise PermissionError(f"{self} cannot be linked to {target}")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    path = tmp_path / "secret"
    create_file(path, b"first")
    assert path.read_bytes() == b"first"
    with pytest.raises(FileExistsError):
        create_file(path, b"second")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_not_renamed_to_a_name_that_another_file_has(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    with pytest.raises(FileExistsError):
        link_or_rename(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"b"


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    replace_file(path, b"old")

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_the_newest_files_of_the_pattern_stay(tmp_path: Path) -> None:
    for age, name in enumerate(["c.run", "a.run", "b.run", "old.txt"]):
        path = tmp_path / name
        path.touch()
        os.utime(path, (1_000 - age, 1_000 - age))
    assert [path.name for path in newest_first(tmp_path, "*.run")] == ["c.run", "a.run", "b.run"]
    delete_oldest(tmp_path, "*.run", 2)
    assert {path.name for path in tmp_path.iterdir()} == {"c.run", "a.run", "old.txt"}
