"""Moving an identity to another device or server address, without showing its secret to others."""

import io
import logging
import stat
from pathlib import Path

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.frame import run
from saratoga_client.local import identity
from saratoga_client.local.origins import normal_address, origin_of
from saratoga_client.local.paths import data_folder
from saratoga_client.problems import Exit
from saratoga_protocol.commands import player_id

HERE, THERE = "ws://127.0.0.1:7470", "wss://cards.example.org"


@pytest.fixture
def own() -> str:
    """Return the secret of this machine's player."""
    return identity.load_or_create(identity.secret_path())


def kept() -> str:
    return identity.load(identity.secret_path())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def token(*words: str) -> int:
    return run(saratoga, ["token", *words])


def on_another_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SARATOGA_HOME", str(tmp_path / "laptop"))


def test_the_secret_is_exported_to_a_file_that_only_its_owner_can_read(
    own: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    at_home = [identity.token_for(server) for server in (HERE, THERE)]
    file = tmp_path / "me.secret"
    assert token("export", str(file)) == Exit.DONE
    assert mode(file) == 0o600
    on_another_device(monkeypatch, tmp_path)
    assert token("import", str(file)) == Exit.DONE
    assert kept() == own
    assert mode(identity.secret_path()) == 0o600
    assert [identity.token_for(server) for server in (HERE, THERE)] == at_home
    told = capsys.readouterr()
    assert own not in told.out + told.err + caplog.text


@pytest.mark.parametrize(
    ("exported_at", "named", "used_at"),
    [
        (THERE, (), THERE),
        # a host has another address in the same network the next evening
        ("ws://192.168.1.7:7470", (), "ws://10.0.0.2:7470"),
        ("ws://cards.example.org", ("--server", THERE), THERE),
    ],
    ids=["one server", "local network", "a server that moved"],
)
def test_a_token_for_one_server_is_moved_without_the_secret(
    exported_at: str,
    named: tuple[str, ...],
    used_at: str,
    own: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exported, elsewhere = identity.token_for(exported_at), identity.token_for(HERE)
    file = tmp_path / "one.token"
    assert token("export", str(file), "--server", exported_at) == Exit.DONE
    # the page takes only the token for its own address
    assert file.read_text() == f"saratoga token {normal_address(exported_at)} {exported}\n"
    on_another_device(monkeypatch, tmp_path)
    assert token("import", str(file), *named) == Exit.DONE
    assert not identity.secret_path().exists()
    assert identity.token_for(used_at) == exported
    assert identity.token_for(HERE) != elsewhere


def test_a_file_is_not_overwritten_and_one_that_cannot_be_written_is_reported(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "diary"
    taken.write_text("dear diary")
    for file, why in ((taken, "exists already"), (taken / "me.secret", "cannot be written")):
        assert token("export", str(file)) == Exit.USAGE
        told = capsys.readouterr()
        assert why in told.err
        assert own not in told.out + told.err
    assert taken.read_text() == "dear diary"


def test_another_secret_replaces_the_present_one_only_on_request(
    own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.write_text("saratoga secret " + "ab" * 32)
    assert token("import", str(other)) == Exit.REFUSED
    assert kept() == own
    assert "--replace" in capsys.readouterr().err
    assert token("import", str(other), "--replace") == Exit.DONE
    assert token("import", str(other)) == Exit.DONE, "the same secret changes nothing"
    assert kept() == "ab" * 32
    (aside,) = data_folder().glob("secret.before-*")
    assert (identity.load(aside), mode(aside)) == (own, 0o600)
    assert str(aside) in capsys.readouterr().err


def test_a_secret_passes_through_a_pipe_only_on_request(
    own: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert token("export") == Exit.USAGE
    assert capsys.readouterr().out == ""
    assert token("export", "--show") == Exit.DONE
    piped = capsys.readouterr().out
    assert piped == f"saratoga secret {own}\n"
    on_another_device(monkeypatch, tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(piped))
    assert token("import", "-") == Exit.DONE
    assert kept() == own


@pytest.mark.parametrize("text", [b"", b"hello", b"ab" * 31, b"\xff" * 64])
def test_text_that_is_neither_secret_nor_token_is_refused_and_not_written(
    text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(text)
    assert token("import", str(wrong), "--server", HERE) == Exit.USAGE
    assert not data_folder().exists()
    assert "Traceback" not in capsys.readouterr().err


def test_a_new_secret_makes_a_new_player_everywhere(own: str) -> None:
    before = identity.token_for(THERE)
    assert token("renew") == Exit.DONE
    assert identity.token_for(THERE) != before
    (aside,) = data_folder().glob("secret.before-*")
    assert identity.load(aside) == own


def test_show_prints_nothing_secret(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    identity.write_new(identity.server_token_path(origin_of(THERE)), identity.token_for(HERE))
    assert token("show") == Exit.DONE
    assert token("show", HERE) == Exit.DONE
    assert token("show", THERE) == Exit.DONE
    told = capsys.readouterr()
    player = player_id(identity.token_for(HERE))
    assert f"ws://localhost:7470: player {player}, by your secret\n" in told.out
    assert f"wss://cards.example.org:443: player {player}, by the token in" in told.out
    for secret in (own, identity.token_for(HERE)):
        assert secret not in told.out + told.err


def test_without_a_secret_nothing_can_be_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert token("export", str(tmp_path / "me")) == Exit.USAGE
    assert "first connect" in capsys.readouterr().err
    assert token("import", str(tmp_path / "nowhere")) == Exit.USAGE
    assert token("show", "nowhere") == Exit.USAGE
    assert not data_folder().exists()
