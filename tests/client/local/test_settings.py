"""The order of precedence: flags, environment, settings file, defaults."""

from pathlib import Path

import pytest

from saratoga_client.local.paths import config_path
from saratoga_client.local.settings import DEFAULT_SERVER, Settings, keep, load
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
        ("SARATOGA_GAME", "tennis", "Write SARATOGA_GAME=canfield or "),
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
