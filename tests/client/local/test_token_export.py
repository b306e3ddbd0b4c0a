"""An exported line says whether it is a secret or a token."""

import pytest

from saratoga_client.local.token_export import ExportedKey, read

KEY = "ab" * 32
SERVER = "wss://cards.example.org:443"


@pytest.mark.parametrize(
    "it", [ExportedKey(KEY, is_secret=True), ExportedKey(KEY, is_secret=False, origin=SERVER)]
)
def test_what_is_written_is_read_again(it: ExportedKey) -> None:
    assert read(f"  {it.line}\n") == it
    assert KEY not in repr(it)


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
def test_nothing_else_is_taken_for_it(line: str) -> None:
    assert read(line) is None
