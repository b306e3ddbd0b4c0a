"""Settings: their values, the file, the environment and flags."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.paths import HOME_VARIABLE, config_path, state_folder
from saratoga_client.local.setting_values import SETTING_TYPES, every_game, shown
from saratoga_client.local.setting_values import THEMES as NAMED_THEMES
from saratoga_client.local.settings import (
    Settings,
    keep,
    last_table_at,
    load,
    remember_server,
    server_to_name,
)
from saratoga_client.local.settings_file import changed, line_of, parse, read
from saratoga_client.local.settings_file import keep as keep_in
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui.themes import THEMES
from saratoga_rules.games import GAMES


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('theem = "x"', "FILE, line 1: there is no setting 'theem'."),
        ('\n\ncap = "ten"', 'FILE, line 3: cap cannot be "ten".'),
        ("cap = 7", "FILE, line 1: cap cannot be 7."),
        ("cap = true", "FILE, line 1: cap cannot be true."),
        ("quick = 1", "FILE, line 1: quick cannot be 1."),
        ('game = "tennis"', 'FILE, line 1: game cannot be "tennis".'),
        ('server = "http://example.org"', 'FILE, line 1: server cannot be "http://example.org".'),
        ('[suits]\ncaprice = "three"', 'FILE, line 2: the suits of caprice cannot be "three".'),
        ('# mine\nsuits.tennis = "two"', "FILE, line 2: there is no game 'tennis'."),
        ('name = ""', 'FILE, line 1: name cannot be "".'),
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


BY_HAND = """\
# my settings
name = "Anna #1"   # with a number
cap = 5# short

[suits]   # by game
caprice = "four"
"""


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("name", "Bert", 'name = "Anna #1"   # with a number', 'name = "Bert"   # with a number'),
        ("cap", 20, "cap = 5# short", "cap = 20# short"),
        ("suits.caprice", "two", 'caprice = "four"\n', 'caprice = "two"\n'),
        ("suits.canfield", "four", 'caprice = "four"\n', 'caprice = "four"\ncanfield = "four"\n'),
        ("quick", True, "cap = 5# short\n", "cap = 5# short\nquick = true\n"),
    ],
)
def test_one_line_changes_and_no_other(
    key: str, value: str | bool | int, before: str, after: str
) -> None:
    assert changed(BY_HAND, key, value) == BY_HAND.replace(before, after)


def test_the_first_choice_makes_a_file_of_one_line() -> None:
    assert changed("", "quick", True) == "quick = true\n"
    assert changed("", "suits.caprice", "two") == 'suits = {caprice = "two"}\n'


def test_one_game_s_suits_part_from_those_of_all() -> None:
    after = parse(changed('cap = 5\nsuits = "four"\n', "suits.canfield", "two"), "FILE")
    assert after["cap"] == 5
    assert after["suits"]["canfield"] == "two"
    assert after["suits"]["caprice"] == "four"


@pytest.mark.parametrize(
    "text",
    [
        'suits = { caprice = "two" } # mine\n',
        'suits.caprice = "two" # mine\ncap = 5\n',
        'cap = 5\n"suits"."caprice" = "two" # mine\n',
        '[suits] # mine\ncaprice = "two"\n',
        "[suits] # mine\n",
    ],
)
def test_the_suits_of_a_game_change_in_every_form_of_toml(text: str) -> None:
    after = changed(changed(text, "suits.canfield", "four"), "suits.caprice", "four")
    assert tomllib.loads(after)["suits"] == {"caprice": "four", "canfield": "four"}
    assert "# mine" in after
    assert ("cap = 5" in after) is ("cap = 5" in text)


def test_a_file_that_is_no_toml_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    text = 'suits = { caprice = "two"\n'
    path.write_text(text)
    with pytest.raises(Problem, match="by hand"):
        keep_in(path, "suits.canfield", "four")
    assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    str.isprintable
)


@given(old=NAMES, new=NAMES, comment=st.sampled_from(["", " # mine", "#"]))
def test_any_name_can_be_kept(old: str, new: str, comment: str) -> None:
    text = changed("", "name", old).rstrip("\n") + f"{comment}\ncap = 5\n"
    after = changed(text, "name", new)
    assert tomllib.loads(after) == {"name": new, "cap": 5}
    assert changed(after, "name", new) == after


def test_a_linked_file_stays_a_link_and_as_private_as_it_was(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "saratoga.toml"
    real.parent.mkdir()
    real.write_text("quick = true\n")
    real.chmod(0o600)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    keep_in(link, "quick", False)
    assert link.is_symlink()
    assert real.read_text() == "quick = false\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_line_is_found_however_its_key_is_written() -> None:
    text = 'a = 1\n"theme" = "x"\nsuits . caprice = "two"\n[ colours ]\n'
    assert [line_of(text, key) for key in ("theme", "caprice", "colours")] == [2, 3, 4]


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
