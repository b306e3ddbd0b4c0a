"""Messages are wrapped between words, and never inside a URL or a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from saratoga_client.wrapping import wrapped

LONG = "The server on this machine stops now; banked cards are kept, and so is the leaderboard."


def test_a_message_breaks_between_words_only() -> None:
    lines = wrapped(LONG, 30)
    assert all(len(line) <= 30 for line in lines)
    assert " ".join(lines) == LONG


@pytest.mark.parametrize(
    "command",
    [
        "saratoga join ws://192.168.1.7:7470/mint-otter-42",
        "saratoga verify mint-otter-42/3#oak-pear-lamp-river --server wss://cards.example.org",
        "saratoga host --port 41233",
        "saratoga practice caprice --seed 'it is mine'",
        "saratoga doctor",
    ],
)
@pytest.mark.parametrize("width", [10, 24, 40, 79])
def test_a_command_stays_on_one_line(command: str, width: int) -> None:
    lines = wrapped(f"You are no longer at this table. To sit down again: {command}", width)
    assert any(command in line for line in lines)


def test_words_after_a_command_wrap_again() -> None:
    text = f"To see more: saratoga --help. {LONG}"
    assert all(len(line) <= 40 for line in wrapped(text, 40))


def test_a_line_of_its_own_is_not_changed() -> None:
    text = "To return:\n  saratoga join mint-otter-42 --server wss://cards.example.org --plain"
    assert wrapped(text, 30) == text.split("\n")


def test_wide_characters_of_names_count_with_the_columns_that_they_take() -> None:
    names = ["明日香の山", "강남스타일", "Zoë", "ピカチュウ", "Bert"]
    text = f"Not in this race, because not connected: {', '.join(names)}."
    lines = wrapped(text, 40)
    assert all(cell_len(line) <= 40 for line in lines)
    assert " ".join(lines) == text


@given(text=st.text(alphabet="ab -./\n", max_size=60), width=st.integers(1, 30))
def test_no_word_is_lost_or_broken(text: str, width: int) -> None:
    assert "\n".join(wrapped(text, width)).split() == text.split()
