"""The settings file: errors name their line, and changes keep all other lines."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.local.settings_file import changed, keep, line_of, parse, read
from saratoga_client.problems import Exit, Problem


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
        keep(path, "suits.canfield", "four")
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
    keep(link, "quick", False)
    assert link.is_symlink()
    assert real.read_text() == "quick = false\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_line_is_found_however_its_key_is_written() -> None:
    text = 'a = 1\n"theme" = "x"\nsuits . caprice = "two"\n[ colours ]\n'
    assert [line_of(text, key) for key in ("theme", "caprice", "colours")] == [2, 3, 4]
