"""Names of keys: different names of one key become one name."""

import pytest
from textual import events

from saratoga_client.tui.base_screen import key_of


@pytest.mark.parametrize(
    ("key", "character", "called"),
    [
        ("w", "w", "w"),
        ("question_mark", "?", "?"),
        ("slash", "/", "/"),
        ("plus", "+", "+"),
        ("minus", "-", "-"),
        ("space", " ", "space"),
        ("enter", "\r", "enter"),
        ("escape", "\x1b", "escape"),
        ("shift+tab", None, "shift+tab"),
        ("up", None, "up"),
    ],
)
def test_a_key_has_the_name_on_it(key: str, character: str | None, called: str) -> None:
    assert key_of(events.Key(key, character)) == called
