"""Table settings as players type them."""

import pytest

from saratoga_client.plain.table_settings import TypedSettings, read_settings


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("", TypedSettings()),
        ("caprice", TypedSettings(game="caprice")),
        (
            "Game canfield CAP 5 minutes seats 4 public",
            TypedSettings(game="canfield", cap=5, seats=4, public=True),
        ),
        ("cap none private", TypedSettings(cap=0, public=False)),
        ("races 3 lafayette", TypedSettings(game="lafayette", races=3)),
        ("races 1", TypedSettings(races=1)),
    ],
)
def test_settings_can_be_typed_in_any_order(words: str, settings: TypedSettings) -> None:
    assert read_settings(words) == settings


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("game whist", "The games are klondike, canfield, canfield-aisleriot,"),
        ("cap 7", "The time limit is 3, 5, 10 or 20 minutes"),
        ("cap", "The time limit is 3, 5, 10 or 20 minutes"),
        ("seats 0", "A table has "),
        ("races 4", "A match has 3 or 5 races"),
        ("races", "A match has 3 or 5 races"),
        ("fast", "'fast' is not a setting."),
    ],
)
def test_an_invalid_setting_is_explained(words: str, error: str) -> None:
    answer = read_settings(words)
    assert isinstance(answer, str)
    assert answer.startswith(error)
