"""Identities and the files that keep them."""

import os
import stat
from pathlib import Path

import pytest

from saratoga_client.local.identity import (
    derived,
    export_line,
    load_or_create,
    new_token,
    read_export,
    secret_path,
    server_token_path,
    token_for,
    write_new,
)
from saratoga_client.local.paths import (
    HOME_VARIABLE,
    OWNER_ONLY,
    config_path,
    create_file,
    data_folder,
    delete_oldest,
    newest_first,
    replace_file,
    state_folder,
)
from saratoga_client.problems import Problem

HERE, THERE = "ws://127.0.0.1:7470", "wss://cards.example.org"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_server_always_gets_the_same_token_and_no_other_server_gets_it() -> None:
    assert token_for(HERE) == token_for(HERE) == token_for("ws://localhost:7470/")
    assert token_for(THERE) == token_for("wss://Cards.Example.org:443")
    secret = load_or_create(secret_path())
    assert len({token_for(HERE), token_for(THERE), secret}) == 3
    assert secret_path().parent == data_folder()
    assert (mode(secret_path()), mode(data_folder())) == (0o600, 0o700)
    assert [path.name for path in data_folder().iterdir()] == ["secret"], "no draft is left"


def test_a_token_is_made_as_it_is_written_down() -> None:
    made = derived("ab" * 32, "wss://cards.example.org:443")
    assert made == "f1fa7740eaa2812f87a2c7fb8bd191e5bb0a50fc59164ae8fa284830c34d2f14"


@pytest.mark.parametrize("shared", [0o640, 0o604, 0o620, 0o601])
def test_a_secret_or_token_that_others_may_touch_is_not_used(shared: int) -> None:
    for path in (secret_path(), server_token_path(THERE)):
        write_new(path, new_token())
        path.chmod(shared)
        with pytest.raises(Problem, match="Other users of this machine") as fault:
            token_for(HERE if path == secret_path() else THERE)
        assert fault.value.remedy == f"Change that with: chmod 600 {path}"


@pytest.mark.parametrize(
    "text", [b"", b"hello", b"AB" * 32, b"ab" * 31, b"ab" * 33, b"\x00", b"\xff" * 64]
)
def test_an_invalid_secret_is_not_used_and_not_overwritten(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "secret"
    create_file(path, text, mode=OWNER_ONLY)
    with pytest.raises(Problem):
        load_or_create(path)
    assert path.read_bytes() == text


def test_a_folder_that_cannot_be_created_is_reported_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Problem, match=HOME_VARIABLE):
        load_or_create(tmp_path / "file" / "secret")


KEY = "ab" * 32
SERVER = "wss://cards.example.org:443"


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (f"  {export_line(KEY)}\n", (KEY, "")),
        (export_line(KEY, SERVER), (KEY, SERVER)),
        (f"saratoga token wss://Cards.example.org {KEY}", (KEY, SERVER)),
        ("", None),
        (KEY, None),
        (f"saratoga secret {KEY.upper()}", None),
        (f"saratoga secret {KEY}0", None),
        (f"saratoga secret {KEY[:-2]}", None),
        (f"saratoga token {KEY}", None),
        (f"saratoga token nowhere {KEY}", None),
        (f"saratoga secret {SERVER} {KEY}", None),
        (f"{KEY} {KEY}", None),
    ],
)
def test_only_an_exported_line_is_read(line: str, read: tuple[str, str] | None) -> None:
    assert read_export(line) == read


def test_a_replaced_file_has_the_new_content_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    replace_file(path, b"old")
    path.chmod(0o640)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_secret_file_is_for_its_owner_alone_when_new_and_when_replaced(tmp_path: Path) -> None:
    path = tmp_path / "data" / "witness" / "race.json"
    replace_file(path, b"nonce", mode=OWNER_ONLY)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    path.chmod(0o644)
    replace_file(path, b"nonce", mode=OWNER_ONLY)
    assert mode(path) == 0o600


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


def folders() -> set[Path]:
    return {config_path().parent, state_folder(), data_folder()}


def test_one_variable_puts_everything_into_one_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert folders() == {tmp_path}
    monkeypatch.setenv(HOME_VARIABLE, "~/cards")
    assert config_path() == Path.home() / "cards" / "config.toml"
    monkeypatch.delenv(HOME_VARIABLE)
    assert all("saratoga" in folder.parts for folder in folders())
    assert config_path().parent != data_folder() or len(folders()) == 1  # one folder on macOS
