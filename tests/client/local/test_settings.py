"""Settings: their values, the file, the environment, last choices and flags."""

import json

import pytest

from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.paths import config_path, state_folder
from saratoga_client.local.settings import THEMES as NAMED_THEMES
from saratoga_client.local.settings import (
    VALUES,
    Settings,
    last_choices,
    load,
    remember,
    remember_server,
    server_to_name,
)
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui.theme import THEMES

LAN = "ws://192.168.1.7:7470"


def loaded(text: str | bytes) -> Settings:
    """Return the settings with this file."""
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_bytes(text if isinstance(text, bytes) else text.encode())
    return load()


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SARATOGA_SERVER", raising=False)


def test_without_any_word_the_defaults_hold() -> None:
    assert load() == Settings()
    assert Settings().server_url == DEFAULT_SERVER


@pytest.mark.parametrize(
    ("key", "word", "value"),
    [
        ("quick", "1", True),
        ("plain", "false", False),
        ("cap", "20", 20),
        ("theme", "paper", "paper"),
        ("server", "", "wss://file.example"),
    ],
)
def test_words_of_the_environment_are_read_as_what_they_mean(
    key: str, word: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SARATOGA_{key.upper()}", word)
    assert getattr(loaded('server = "wss://file.example"\nplain = true'), key) == value


@pytest.mark.parametrize(
    ("variable", "word", "remedy"),
    [
        ("SARATOGA_CAP", "7", "It can be 3, 5, 10, 20 or 0."),
        ("SARATOGA_PLAIN", "maybe", "It can be true or false."),
        ("SARATOGA_SUITS", "three", 'It can be "two" or "four", '),
        ("SARATOGA_GAME", "tennis", "It can be klondike, "),
    ],
)
def test_a_variable_that_says_nonsense_is_named(
    variable: str, word: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, word)
    with pytest.raises(Problem) as problem:
        load()
    assert problem.value.what == f'{variable} cannot be "{word}".'
    assert problem.value.remedy.startswith(remedy)


def test_a_choice_is_kept_for_the_next_run_and_gives_way_to_the_file() -> None:
    remember(theme="paper", suits={"caprice": "two", "canfield": "two"})
    assert (load().theme, load().suits) == ("paper", {"caprice": "two", "canfield": "two"})
    chosen = loaded('theme = "felt"\nsuits.canfield = "four"\n')
    assert (chosen.theme, chosen.suits) == ("felt", {"caprice": "two", "canfield": "four"})
    assert set(loaded('suits = "four"').suits.values()) == {"four"}, "for all games"


def test_the_last_server_is_meant_and_not_named_unless_another_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [server_to_name(each) for each in (DEFAULT_SERVER, LAN)] == ["", LAN]
    remember_server(LAN, "mint-otter-42")
    assert load().server_url == LAN
    # `saratoga host` opens a server on this machine unless one is named
    assert load().server == ""
    assert [server_to_name(each) for each in (DEFAULT_SERVER, f"{LAN}/")] == [DEFAULT_SERVER, ""]
    assert loaded('server = "wss://file.example"').server_url == "wss://file.example"
    monkeypatch.setenv("SARATOGA_SERVER", "ws://variable.example")
    assert load().server_url == "ws://variable.example"
    assert load().given(server="ws://flag.example").server_url == "ws://flag.example"
    assert server_to_name(LAN) == LAN
    monkeypatch.setenv("SARATOGA_THEME", "no theme")
    assert server_to_name(DEFAULT_SERVER) == "", "whatever is wrong with the settings"


def test_the_last_table_belongs_to_the_last_server() -> None:
    remember_server(LAN, "mint-otter-42")
    remember_server(f"{LAN}/")
    assert last_choices().last_table_at(LAN) == "mint-otter-42"
    assert last_choices().last_table_at(DEFAULT_SERVER) == ""
    remember_server(DEFAULT_SERVER)
    assert last_choices().last_table_at(LAN) == last_choices().last_table_at(DEFAULT_SERVER) == ""


def test_an_invalid_last_choice_leaves_the_others_as_they_are() -> None:
    remember_server(LAN, "mint-otter-42")
    last = state_folder() / "last.json"
    last.write_text(json.dumps({"last_server": LAN, "last_table": "no code", "cap": 5, "new": 1}))
    assert (load().server_url, load().last_table, load().cap) == (LAN, "", 5)
    last.write_text("[")
    assert load().server_url == DEFAULT_SERVER


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('\n\ncap = "ten"', 'line 3: cap cannot be "ten".'),
        ("cap = 7", "line 1: cap cannot be 7."),
        ("quick = 1", "line 1: quick cannot be 1."),
        ('server = "http://example.org"', 'line 1: server cannot be "http://example.org".'),
        ('\n[suits]\ncaprice = "three"', 'line 2: suits cannot be {"caprice": "three"}.'),
        ('# mine\nsuits.tennis = "two"', 'line 2: suits cannot be {"tennis": "two"}.'),
        ('ascii = true\n"suits" . caprice = 2', 'line 2: suits cannot be {"caprice": 2}.'),
        ('name = ""', 'line 1: name cannot be "".'),
        (f'name = "{"x" * 65}"', f'line 1: name cannot be "{"x" * 65}".'),
        (r'name = "Anna\u001b"', r'line 1: name cannot be "Anna\u001b".'),
        ('theem = "x"', 'Did you mean "theme"?'),
        ('table = "mint-otter-42"', "line 1: there is no setting 'table'."),
        ('name = "Anna"\nname: Bert', "line 2"),
        (b"\xff\xfe", "move it away"),
    ],
)
def test_an_error_in_the_file_names_the_line_and_a_remedy(text: str | bytes, expected: str) -> None:
    with pytest.raises(Problem) as problem:
        loaded(text)
    assert expected in str(problem.value)
    assert str(config_path()) in problem.value.what
    assert problem.value.remedy
    assert problem.value.code == Exit.USAGE


def test_the_themes_that_can_be_set_are_those_there_are() -> None:
    assert tuple(THEMES) == NAMED_THEMES
    assert {*VALUES, "last_server", "last_table"} == set(Settings.__struct_fields__)
