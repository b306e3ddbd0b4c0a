"""Finding cards with a few keys."""

import pytest

from saratoga_client.tui.finder import Finder


@pytest.mark.parametrize(
    ("keys", "text", "is_open"),
    [
        ("q", "Q", True),
        ("qh", "QH", True),
        ("hq", "QH", True),
        ("0", "10", True),
        ("1", "10", True),
        ("as", "AS", True),
        ("a2", "2", True),
        (["q", "enter"], "Q", False),
        (["q", "h", "backspace"], "", True),
        (["q", "escape"], "", False),
        (["q", "enter", "/"], "", True),
    ],
)
def test_keys_name_a_card_and_end(keys: str | list[str], text: str, is_open: bool) -> None:
    finder = Finder(is_open=True)
    for key in keys:
        finder = finder.press(key)
    assert (finder.text, finder.is_open) == (text, is_open)
