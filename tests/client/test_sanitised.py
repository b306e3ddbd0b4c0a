"""Other people's text on a terminal: control characters have no effect and are shown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.terminals import OBEYED, TRICKS
from saratoga_client.sanitised import sanitised, sanitised_json


@pytest.mark.parametrize("trick", TRICKS)
def test_control_characters_are_shown_as_their_numbers(trick: str) -> None:
    safe = sanitised(f"Anna{trick}!")
    assert safe.isprintable()
    assert safe.startswith("Anna<U+")


@pytest.mark.parametrize("name", ["Anna", "Zoë", "Λένα", "李雷", "क्\u200dष", "-$45 [bot]", "👋"])
def test_printable_characters_are_unchanged(name: str) -> None:
    assert sanitised(name) == name


@given(st.text())
def test_no_control_character_is_left_in_any_text(text: str) -> None:
    assert not OBEYED & set(sanitised(text))
    assert sanitised(sanitised(text)) == sanitised(text)
    sanitised(text).encode()


@given(st.text(st.characters(codec="utf-8")))
def test_json_says_the_same_as_before(text: str) -> None:
    raw = json.dumps({"name": text}, ensure_ascii=False)
    safe = sanitised_json(raw)
    assert json.loads(safe) == {"name": text}
    assert not OBEYED & set(safe)
