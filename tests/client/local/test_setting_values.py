"""The values that each setting accepts, in the file and in the environment."""

import tomllib

import pytest

from saratoga_client.local.setting_values import SETTING_TYPES, every_game, shown
from saratoga_client.local.setting_values import THEMES as NAMED_THEMES
from saratoga_client.tui.themes import THEMES
from saratoga_rules.games import GAMES


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server", "wss://cards.example.org"),
        ("name", "Zoë"),
        ("suits", "four"),
        ("theme", "paper"),
        ("ascii", True),
        ("quick", False),
        ("game", "lady-palk"),
        ("cap", 0),
        ("races", 3),
        ("install", "pip install saratoga"),
    ],
)
def test_valid_values_of_a_setting_are_read(key: str, value: object) -> None:
    read = SETTING_TYPES[key].read(value)
    assert read == (every_game(str(value)) if key == "suits" else value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server", "http://cards.example.org"),
        ("name", ""),
        ("name", "x" * 65),
        ("name", "Anna\x1b[2J"),
        ("suits", "three"),
        ("theme", "pink"),
        ("ascii", "true"),
        ("quick", 1),
        ("game", "tennis"),
        ("cap", 7),
        ("cap", True),
        ("cap", "10"),
        ("races", 2),
        ("install", "pip\ninstall"),
    ],
)
def test_invalid_values_of_a_setting_are_none(key: str, value: object) -> None:
    assert SETTING_TYPES[key].read(value) is None


@pytest.mark.parametrize(
    ("key", "word", "value"),
    [
        ("plain", "1", True),
        ("plain", "Yes", True),
        ("plain", "off", False),
        ("plain", "perhaps", None),
        ("cap", "20", 20),
        ("cap", "-3", None),
        ("cap", "7", None),
        ("races", "5", 5),
        ("theme", "paper", "paper"),
    ],
)
def test_words_of_the_environment_are_read_as_what_they_mean(
    key: str, word: str, value: object
) -> None:
    assert SETTING_TYPES[key].read_word(word) == value


def test_suits_for_every_game_are_one_word() -> None:
    assert every_game("two") == dict.fromkeys(GAMES, "two")


@pytest.mark.parametrize("value", ['a "b" \\ c', "ü\t", True, 10])
def test_a_value_is_written_as_toml_reads_it(value: object) -> None:
    assert tomllib.loads(f"x = {shown(value)}") == {"x": value}


def test_an_example_for_the_environment_has_no_quotes() -> None:
    assert (
        SETTING_TYPES["quick"].example_of_variable("SARATOGA_QUICK") == "SARATOGA_QUICK=1 or false"
    )
    assert SETTING_TYPES["name"].example_of_variable("SARATOGA_NAME") == "SARATOGA_NAME=Anna"


def test_the_themes_that_can_be_set_are_those_there_are() -> None:
    assert tuple(THEMES) == NAMED_THEMES
