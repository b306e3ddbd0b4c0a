"""The order of precedence: flags, environment, settings file, defaults."""

from pathlib import Path

import pytest

from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.paths import HOME_VARIABLE, config_path, state_folder
from saratoga_client.local.settings import (
    Settings,
    keep,
    last_table_at,
    load,
    remember_server,
    server_to_name,
)
from saratoga_client.problems import Problem


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('server = "wss://file.example"\nname = "Anna"\nquick = true\n')
    return path


def test_without_any_word_the_defaults_hold(tmp_path: Path) -> None:
    assert load({}, tmp_path / "none") == Settings()
    assert Settings().server_url == DEFAULT_SERVER


def test_the_environment_goes_before_the_file_and_flags_before_both(file: Path) -> None:
    environment = {"SARATOGA_SERVER": "wss://variable.example", "SARATOGA_QUICK": "off"}
    loaded = load(environment, file)
    assert (loaded.server, loaded.name, loaded.quick) == ("wss://variable.example", "Anna", False)
    flagged = loaded.given(server="wss://flag.example", name=None)
    assert (flagged.server, flagged.name) == ("wss://flag.example", "Anna")


def test_an_empty_variable_says_nothing(file: Path) -> None:
    assert load({"SARATOGA_SERVER": ""}, file).server == "wss://file.example"


@pytest.mark.parametrize(
    ("variable", "word", "remedy"),
    [
        ("SARATOGA_CAP", "7", "Write SARATOGA_CAP=3, 5, 10, 20 or 0."),
        ("SARATOGA_PLAIN", "maybe", "Write SARATOGA_PLAIN=1 or false."),
        ("SARATOGA_SUITS", "three", "Write SARATOGA_SUITS=two or four."),
        ("SARATOGA_GAME", "tennis", "Write SARATOGA_GAME=klondike or "),
    ],
)
def test_a_variable_that_says_nonsense_is_named(variable: str, word: str, remedy: str) -> None:
    with pytest.raises(Problem) as problem:
        load({variable: word}, Path("none"))
    assert problem.value.what == f"{variable} cannot be {word!r}."
    assert problem.value.remedy.startswith(remedy)


def test_a_choice_is_kept_for_the_next_run() -> None:
    keep("quick", True)
    keep("suits.caprice", "two")
    loaded = load({})
    assert loaded.quick
    assert dict(loaded.suits) == {"caprice": "two"}
    assert config_path().is_file()


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
    assert last_table_at(LAN) == "mint-otter-42"
    assert last_table_at(DEFAULT_SERVER) == ""
    remember_server(DEFAULT_SERVER)
    assert (last_table_at(LAN), last_table_at(DEFAULT_SERVER)) == ("", "")


def test_an_invalid_last_choice_leaves_the_others_as_they_are() -> None:
    remember_server(LAN, "mint-otter-42")
    last = state_folder() / "last.toml"
    last.write_text(f'server = "{LAN}"\ntable = "no code"\ncap = 5\nnew = 1\n')
    assert (load({}).server_url, load({}).last_table, load({}).cap) == (LAN, "", 5)
    last.write_text("server =")
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
