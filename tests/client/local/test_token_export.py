"""An exported line says whether the key is a secret or a token."""

import pytest

from saratoga_client.local.token_export import ExportedKey, read

KEY = "ab" * 32
SERVER = "wss://cards.example.org:443"


@pytest.mark.parametrize(
    "key", [ExportedKey(KEY, is_secret=True), ExportedKey(KEY, is_secret=False, origin=SERVER)]
)
def test_an_exported_line_is_read_again(key: ExportedKey) -> None:
    assert read(f"  {key.line}\n") == key
    assert KEY not in repr(key)


def test_a_server_is_read_in_every_spelling() -> None:
    assert read(f"saratoga token wss://Cards.example.org {KEY}") == ExportedKey(
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
    assert read(line) is None
