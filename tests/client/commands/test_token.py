"""Carrying who one is to a second device, without anybody else becoming it."""

import io
import logging
import stat
from pathlib import Path

import pytest

from saratoga_client import identity
from saratoga_client.__main__ import saratoga
from saratoga_client.commands.group import run
from saratoga_client.problems import Exit


@pytest.fixture
def own() -> str:
    """The token of this machine's player."""
    return identity.load_or_create_token()


def kept() -> str:
    return identity.load_token(identity.token_path())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_carried_in_a_file_for_its_owner_alone(
    own: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    carried = tmp_path / "me.token"
    assert run(saratoga, ["token", "export", str(carried)]) == Exit.DONE
    assert mode(carried) == 0o600
    monkeypatch.setenv("SARATOGA_HOME", str(tmp_path / "laptop"))
    assert run(saratoga, ["token", "import", str(carried)]) == Exit.DONE
    assert kept() == own
    assert mode(identity.token_path()) == 0o600
    told = capsys.readouterr()
    assert own not in told.out + told.err + caplog.text


def test_where_nothing_can_be_written_that_is_said(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    no_folder = tmp_path / "a file"
    no_folder.touch()
    assert run(saratoga, ["token", "export", str(no_folder / "me.token")]) == Exit.USAGE
    told = capsys.readouterr()
    assert "cannot be written" in told.err
    assert own not in told.out + told.err


def test_a_file_that_is_there_is_not_written_over(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "diary"
    taken.write_text("dear diary")
    assert run(saratoga, ["token", "export", str(taken)]) == Exit.USAGE
    assert taken.read_text() == "dear diary"
    assert own not in capsys.readouterr().err


def test_another_token_is_taken_only_if_asked_for_and_the_old_one_is_put_aside(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.write_text("ab" * 32)
    assert run(saratoga, ["token", "import", str(other)]) == Exit.REFUSED
    assert kept() == own
    assert "--replace" in capsys.readouterr().err
    assert run(saratoga, ["token", "import", str(other), "--replace"]) == Exit.DONE
    assert kept() == "ab" * 32
    (aside,) = identity.home().glob("token.before-*")
    assert (identity.load_token(aside), mode(aside)) == (own, 0o600)
    assert str(aside) in capsys.readouterr().err


def test_the_same_token_once_more_changes_nothing(own: str, tmp_path: Path) -> None:
    same = tmp_path / "same"
    same.write_text(f"  {own}\n")
    assert run(saratoga, ["token", "import", str(same)]) == Exit.DONE
    assert [path.name for path in identity.home().iterdir()] == ["token"]


def test_it_comes_through_a_pipe_if_both_ends_say_so(
    own: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(saratoga, ["token", "export"]) == Exit.USAGE
    assert capsys.readouterr().out == ""
    assert run(saratoga, ["token", "export", "--show"]) == Exit.DONE
    piped = capsys.readouterr().out
    assert piped == f"{own}\n"
    monkeypatch.setenv("SARATOGA_HOME", str(tmp_path / "laptop"))
    monkeypatch.setattr("sys.stdin", io.StringIO(piped))
    assert run(saratoga, ["token", "import", "-"]) == Exit.DONE
    assert kept() == own


@pytest.mark.parametrize("text", [b"", b"hello", b"ab" * 31, b"\xff" * 64])
def test_what_is_no_token_is_refused_and_nothing_is_written(
    text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(text)
    assert run(saratoga, ["token", "import", str(wrong)]) == Exit.USAGE
    assert not identity.token_path().exists()
    assert "Traceback" not in capsys.readouterr().err


def test_without_a_token_there_is_nothing_to_carry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, ["token", "export", str(tmp_path / "me")]) == Exit.USAGE
    assert "first visit" in capsys.readouterr().err
    assert run(saratoga, ["token", "import", str(tmp_path / "nowhere")]) == Exit.USAGE
