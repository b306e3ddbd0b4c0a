"""Lookalikes: names that can be mistaken for each other."""

# ruff: noqa: RUF001  the letters that look like others are the point here

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_server.domain.lookalikes import is_mask, masks, skeleton


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ann", "ANN"),
        ("Bill", "BiII"),
        ("Bill", "B1ll"),
        ("Bill", "BILL"),
        ("Otto", "0tt0"),
        ("Mary", "Rnary"),
        ("MARY", "rnary"),
        ("Ann Lee", "AnnLee"),
        ("Ann-Lee", "Ann_Lee"),
        ("Strauß", "STRAUSS"),
        ("Anna", "Аnnа"),
        ("BEPA", "ВЕРА"),
        ("bepa", "вера"),
        ("caxap", "сахар"),
        ("ΑΝΝΑ", "ANNA"),
        ("Ελένη", "ΕΛΈΝΗ"),
        ("Ann", "Ａｎｎ"),
        ("Jose\u0301", "José"),
    ],
)
def test_look_alikes_are_one(name: str, other: str) -> None:
    assert skeleton(name) == skeleton(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Nina", "Viva"),
        ("Yan", "Uan"),
        ("Tony", "Tovy"),
        ("Jose", "José"),
        ("Zoe", "Zoë"),
        ("Ann", "Anne"),
        ("Вера", "Мера"),
        ("田中", "中田"),
        ("Sam", "5am"),
    ],
)
def test_names_that_anybody_can_tell_apart_are_two(name: str, other: str) -> None:
    assert skeleton(name) != skeleton(other)


def test_of_latins_own_only_i_l_and_1_and_o_and_0_are_one() -> None:
    families: dict[str, str] = {}
    for character in string.ascii_lowercase + string.digits:
        families[skeleton(character)] = families.get(skeleton(character), "") + character
    assert sorted(family for family in families.values() if len(family) > 1) == ["il1", "o0"]


@pytest.mark.parametrize("name", ["ναι", "αγορα", "ου"])
def test_greek_that_could_be_latin_without_colliding_is_a_mask(name: str) -> None:
    assert is_mask(name)


@pytest.mark.parametrize("name", ["Ann", "Γιάννης", "Вера", "γλυκό", "田中"])
def test_other_names_are_none(name: str) -> None:
    assert not is_mask(name)


def test_few_letters_make_a_mask() -> None:
    assert {"ν", "υ", "γ"} <= masks()
    assert len(masks()) < 10


@given(st.text(max_size=20))
def test_a_skeleton_is_its_own_skeleton(name: str) -> None:
    assert skeleton(skeleton(name)) == skeleton(name)


@given(st.text(max_size=20))
def test_a_skeleton_has_letters_marks_and_digits_only(name: str) -> None:
    assert not set(skeleton(name)) & set(" -_'.!?&/")
