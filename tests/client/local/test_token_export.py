"""What is carried to another device says what it is."""

import pytest

from saratoga_client.local.token_export import ExportedKey, read

KEY = "ab" * 32
HOUSE = "wss://cards.example.org:443"


@pytest.mark.parametrize(
    "it", [ExportedKey(KEY, is_secret=True), ExportedKey(KEY, is_secret=False, origin=HOUSE)]
)
def test_what_is_written_is_read_again(it: ExportedKey) -> None:
    assert read(f"  {it.line}\n") == it
    assert KEY not in repr(it)


def test_digits_alone_are_the_token_of_0_1() -> None:
    assert read(KEY) == ExportedKey(KEY, is_secret=False)


def test_a_house_is_read_however_it_is_spelled() -> None:
    assert read(f"saratoga token wss://Cards.example.org {KEY}") == ExportedKey(
        KEY, is_secret=False, origin=HOUSE
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        KEY[:-2],
        KEY.upper(),
        f"saratoga secret {KEY}0",
        f"saratoga token {KEY}",
        f"saratoga token nowhere {KEY}",
        f"saratoga secret {HOUSE} {KEY}",
        f"{KEY} {KEY}",
    ],
)
def test_nothing_else_is_taken_for_it(line: str) -> None:
    assert read(line) is None
