import stat
from pathlib import Path

import pytest

from saratoga_client.local.key_files import UnusableToken, load, load_or_create, put_aside
from saratoga_client.local.paths import HOME_VARIABLE


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
