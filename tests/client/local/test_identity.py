"""Identities and the files that keep them."""

import hashlib
import hmac
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from saratoga_client.local import identity, key_files
from saratoga_client.local.identity import (
    ExportedKey,
    derived,
    read_export,
    server_token_path,
    token_for,
)
from saratoga_client.local.key_files import UnusableToken, load, load_or_create, put_aside
from saratoga_client.local.paths import (
    HOME_VARIABLE,
    OWNER_ONLY,
    config_folder,
    config_path,
    create_file,
    data_folder,
    delete_oldest,
    link_or_rename,
    newest_first,
    replace_file,
    state_folder,
)

HERE, THERE = "ws://127.0.0.1:7470", "wss://cards.example.org"


def test_a_server_always_gets_the_same_token_and_no_other_server_gets_it() -> None:
    assert token_for(HERE) == token_for(HERE) == token_for("ws://localhost:7470/")
    assert token_for(THERE) == token_for("wss://Cards.Example.org:443")
    secret = key_files.load(identity.secret_path())
    assert len({token_for(HERE), token_for(THERE), secret}) == 3


def test_a_token_is_made_as_it_is_written_down() -> None:
    message = b"saratoga house wss://cards.example.org:443"
    made = hmac.new(bytes.fromhex("ab" * 32), message, hashlib.sha256).hexdigest()
    assert derived("ab" * 32, "wss://cards.example.org:443") == made
    assert made == "f1fa7740eaa2812f87a2c7fb8bd191e5bb0a50fc59164ae8fa284830c34d2f14"


def test_an_imported_token_is_used_at_its_server_only() -> None:
    key_files.write_new(server_token_path("wss://cards.example.org:443"), "cd" * 32)
    assert token_for(THERE) == "cd" * 32
    assert token_for(HERE) != "cd" * 32
    (imported,) = identity.imported_tokens()
    assert imported.origin == "wss://cards.example.org:443"
    assert token_for(imported.origin) == "cd" * 32


def test_an_unreadable_imported_token_is_an_error() -> None:
    path = server_token_path("wss://cards.example.org:443")
    key_files.write_new(path, "cd" * 32)
    path.chmod(0o644)
    with pytest.raises(UnusableToken, match="Other users of this machine"):
        token_for(THERE)


def test_the_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert identity.home() == tmp_path
    assert identity.secret_path() == tmp_path / "secret"
    assert server_token_path("ws://[fd00::7]:7470").parent == tmp_path / "houses"


def test_a_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "player" / "secret"
    secret = load_or_create(path)
    assert len(bytes.fromhex(secret)) == 32
    assert load_or_create(path) == secret


def test_two_players_have_two_secrets(tmp_path: Path) -> None:
    assert load_or_create(tmp_path / "a") != load_or_create(tmp_path / "b")


def test_no_other_user_may_read_the_key_file(tmp_path: Path) -> None:
    path = tmp_path / "player" / "secret"
    load_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_secret_that_others_may_touch_is_not_used(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret"
    load_or_create(path)
    path.chmod(mode)
    with pytest.raises(UnusableToken) as fault:
        load_or_create(path)
    assert fault.value.remedy == f"Change that with: chmod 600 {path}"


@pytest.mark.parametrize("text", ["", "hello", "AB" * 32, "ab" * 31, "ab" * 33, "\x00"])
def test_an_invalid_secret_is_not_used_and_not_overwritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(UnusableToken):
        load_or_create(path)
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"\xff" * 64)
    path.chmod(0o600)
    with pytest.raises(UnusableToken):
        load(path)


def test_a_folder_that_cannot_be_created_is_reported_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableToken, match=HOME_VARIABLE):
        load_or_create(tmp_path / "file" / "secret")


def test_a_replaced_key_file_is_kept_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    assert put_aside(path) is None
    secret = load_or_create(path)
    aside = put_aside(path)
    assert aside is not None
    assert [*tmp_path.iterdir()] == [aside]
    assert (load(aside), stat.S_IMODE(aside.stat().st_mode)) == (secret, 0o600)


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    load_or_create(tmp_path / "secret")
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


KEY = "ab" * 32
SERVER = "wss://cards.example.org:443"


@pytest.mark.parametrize(
    "key", [ExportedKey(KEY, is_secret=True), ExportedKey(KEY, is_secret=False, origin=SERVER)]
)
def test_an_exported_line_is_read_again(key: ExportedKey) -> None:
    assert read_export(f"  {key.line}\n") == key
    assert KEY not in repr(key)


def test_a_server_is_read_in_every_spelling() -> None:
    assert read_export(f"saratoga token wss://Cards.example.org {KEY}") == ExportedKey(
        KEY, is_secret=False, origin=SERVER
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        KEY,
        KEY[:-2],
        KEY.upper(),
        f"saratoga secret {KEY}0",
        f"saratoga token {KEY}",
        f"saratoga token nowhere {KEY}",
        f"saratoga secret {SERVER} {KEY}",
        f"{KEY} {KEY}",
    ],
)
def test_other_text_is_no_exported_key(line: str) -> None:
    assert read_export(line) is None


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


FOLDERS = (config_folder, state_folder, data_folder)


@pytest.mark.parametrize("folder", FOLDERS)
def test_one_variable_puts_everything_into_one_folder(
    folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert folder() == tmp_path
    assert not (tmp_path / "config.toml").exists()


def test_a_tilde_is_the_player_s_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, "~/cards")
    assert config_path() == Path.home() / "cards" / "config.toml"


def test_without_it_every_kind_has_its_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME_VARIABLE)
    folders = {folder() for folder in FOLDERS}
    assert all("saratoga" in folder.parts for folder in folders)
    assert config_folder() != data_folder() or len(folders) == 1  # one folder on macOS
