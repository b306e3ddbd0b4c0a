"""Settings: their values, the file, the environment, last choices and flags."""

import json
from pathlib import Path

import pytest

from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.paths import HOME_VARIABLE, state_folder
from saratoga_client.local.settings import (
    THEMES as NAMED_THEMES,
)
from saratoga_client.local.settings import (
    VALUES,
    Settings,
    last_choices,
    line_of,
    load,
    parse,
    read,
    remember,
    remember_server,
    server_to_name,
)
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui.theme import THEMES


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('server = "wss://file.example"\nname = "Anna"\nquick = true\n')
    return path


def test_without_any_word_the_defaults_hold(tmp_path: Path) -> None:
    assert load({}, tmp_path / "none") == Settings()
    assert Settings().server_url == DEFAULT_SERVER


def test_an_empty_variable_says_nothing(file: Path) -> None:
    assert load({"SARATOGA_SERVER": ""}, file).server == "wss://file.example"


@pytest.mark.parametrize(
    ("variable", "word", "remedy"),
    [
        ("SARATOGA_CAP", "7", "It can be 3, 5, 10, 20 or 0."),
        ("SARATOGA_PLAIN", "maybe", "It can be true or false."),
        ("SARATOGA_SUITS", "three", 'It can be "two" or "four", '),
        ("SARATOGA_GAME", "tennis", "It can be klondike, "),
    ],
)
def test_a_variable_that_says_nonsense_is_named(variable: str, word: str, remedy: str) -> None:
    with pytest.raises(Problem) as problem:
        load({variable: word}, Path("none"))
    assert problem.value.what == f'{variable} cannot be "{word}".'
    assert problem.value.remedy.startswith(remedy)


def test_a_choice_is_kept_for_the_next_run_and_gives_way_to_the_file(tmp_path: Path) -> None:
    remember(theme="paper", suits={"caprice": "two", "canfield": "two"})
    assert (load({}).theme, load({}).suits) == ("paper", {"caprice": "two", "canfield": "two"})
    path = tmp_path / "config.toml"
    path.write_text('theme = "felt"\nsuits.canfield = "four"\n')
    loaded = load({}, path)
    assert (loaded.theme, loaded.suits) == ("felt", {"caprice": "two", "canfield": "four"})


LAN = "ws://192.168.1.7:7470"


def test_the_last_server_is_meant_unless_another_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_server(LAN, "mint-otter-42")
    assert load({}).server_url == LAN
    assert load({}, file).server_url == "wss://file.example"
    assert load({"SARATOGA_SERVER": "ws://variable.example"}).server_url == "ws://variable.example"
    assert load({}).given(server="ws://flag.example").server_url == "ws://flag.example"
    # `saratoga host` opens a server on this machine unless one is named
    assert load({}).server == ""


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
    assert (load({}).server_url, load({}).last_table, load({}).cap) == (LAN, "", 5)
    last.write_text("[")
    assert load({}).server_url == DEFAULT_SERVER


def test_the_settings_file_has_no_last_table(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('table = "mint-otter-42"\n')
    with pytest.raises(Problem, match="there is no setting 'table'"):
        load({}, path)


def test_a_command_names_its_server_unless_it_goes_there_anyway(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SARATOGA_SERVER", raising=False)
    assert server_to_name(DEFAULT_SERVER) == ""
    assert server_to_name(LAN) == LAN
    remember_server(LAN)
    assert server_to_name(f"{LAN}/") == ""
    assert server_to_name(DEFAULT_SERVER) == DEFAULT_SERVER
    monkeypatch.setenv("SARATOGA_SERVER", "wss://cards.example.org")
    assert server_to_name(LAN) == LAN
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "other"))
    monkeypatch.setenv("SARATOGA_THEME", "no theme")
    assert server_to_name(DEFAULT_SERVER) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('\n\ncap = "ten"', 'FILE, line 3: cap cannot be "ten".'),
        ("cap = 7", "FILE, line 1: cap cannot be 7."),
        ("quick = 1", "FILE, line 1: quick cannot be 1."),
        ('server = "http://example.org"', 'FILE, line 1: server cannot be "http://example.org".'),
        (
            '\n[suits]\ncaprice = "three"',
            'FILE, line 2: suits cannot be {"caprice": "three"}.',
        ),
        ('# mine\nsuits.tennis = "two"', 'FILE, line 2: suits cannot be {"tennis": "two"}.'),
        ('name = ""', 'FILE, line 1: name cannot be "".'),
        (f'name = "{"x" * 65}"', f'FILE, line 1: name cannot be "{"x" * 65}".'),
        (r'name = "Anna\u001b"', r'FILE, line 1: name cannot be "Anna\u001b".'),
    ],
)
def test_an_error_names_the_line_and_a_remedy(text: str, expected: str) -> None:
    with pytest.raises(Problem) as problem:
        parse(text, "FILE")
    assert problem.value.what == expected
    assert problem.value.remedy
    assert problem.value.code == Exit.USAGE


def test_a_near_miss_is_guessed() -> None:
    with pytest.raises(Problem, match='Did you mean "theme"'):
        parse('theem = "x"', "FILE")


def test_invalid_toml_is_reported_with_its_line() -> None:
    with pytest.raises(Problem, match="line 2"):
        parse('name = "Anna"\nname: Bert', "FILE")


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(Problem, match="move it away"):
        read(path)


def test_suits_are_for_one_game_or_for_all() -> None:
    assert parse('[suits]\ncaprice = "two"', "FILE") == {"suits": {"caprice": "two"}}
    assert set(parse('suits = "four"', "FILE")["suits"].values()) == {"four"}


def test_a_line_is_found_however_its_key_is_written() -> None:
    text = 'a = 1\n"theme" = "x"\nsuits . caprice = "two"\n[ colours ]\n'
    assert [line_of(text, key) for key in ("theme", "suits", "colours")] == [2, 3, 4]


@pytest.mark.parametrize(
    ("variable", "word", "value"),
    [
        ("QUICK", "1", True),
        ("PLAIN", "false", False),
        ("CAP", "20", 20),
        ("THEME", "paper", "paper"),
    ],
)
def test_words_of_the_environment_are_read_as_what_they_mean(
    variable: str, word: str, value: object
) -> None:
    loaded = load({f"SARATOGA_{variable}": word}, Path("none"))
    assert getattr(loaded, variable.lower()) == value


def test_the_themes_that_can_be_set_are_those_there_are() -> None:
    assert tuple(THEMES) == NAMED_THEMES
    assert {*VALUES, "last_server", "last_table"} == set(Settings.__struct_fields__)
