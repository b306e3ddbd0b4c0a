"""Each server gets a token of its own, and no server gets the secret."""

import hashlib
import hmac
from pathlib import Path

import pytest

from saratoga_client.local import identity, key_files
from saratoga_client.local.identity import derived, server_token_path, token_for
from saratoga_client.local.key_files import UnusableToken
from saratoga_client.local.paths import HOME_VARIABLE

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
