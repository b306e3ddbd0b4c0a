import stat
from pathlib import Path

import pytest

from saratoga_client.identity import (
    TokenUnusable,
    home,
    load_or_create_token,
    load_token,
    token_path,
)
from saratoga_client.places import HOME_VARIABLE


def test_a_token_is_made_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "player" / "token"
    token = load_or_create_token(path)
    assert len(bytes.fromhex(token)) == 32
    assert load_or_create_token(path) == token


def test_two_players_have_two_tokens(tmp_path: Path) -> None:
    assert load_or_create_token(tmp_path / "a") != load_or_create_token(tmp_path / "b")


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "player" / "token"
    load_or_create_token(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_token_that_others_may_touch_is_not_used(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    load_or_create_token(path)
    path.chmod(mode)
    with pytest.raises(TokenUnusable) as fault:
        load_or_create_token(path)
    assert fault.value.remedy == f"Take that away with: chmod 600 {path}"


@pytest.mark.parametrize("text", ["", "hello", "AB" * 32, "ab" * 31, "ab" * 33, "\x00"])
def test_what_is_no_token_is_not_used_and_not_overwritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(TokenUnusable):
        load_or_create_token(path)
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_no_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"\xff" * 64)
    path.chmod(0o600)
    with pytest.raises(TokenUnusable):
        load_token(path)


def test_a_token_carried_over_from_another_device_is_used(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("ab" * 32 + "\n")
    path.chmod(0o600)
    assert load_or_create_token(path) == "ab" * 32


def test_a_folder_that_cannot_be_made_is_said_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TokenUnusable, match=HOME_VARIABLE):
        load_or_create_token(tmp_path / "file" / "token")


def test_the_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert home() == tmp_path
    assert token_path() == tmp_path / "token"


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    load_or_create_token(tmp_path / "token")
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
