"""Names: which are valid, reserved, or too similar to another."""

# ruff: noqa: RUF001  the letters that look like others are the point here

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saratoga_server.domain.usernames import LONGEST, SHORTEST, BadName, checked_name


@pytest.mark.parametrize(
    "name",
    [
        "Ann",
        "ab",
        "x" * 20,
        "Ann Lee",
        "Mary-Jane",
        "O'Neil",
        "J. R.",
        "kg_9",
        "José",
        "Nguyễn",
        "Łukasz",
        "Strauß",
        "Вера",
        "гора",
        "Γιάννης",
        "שלום",
        "محمد",
        "नमस्ते",
        "สมชาย",
        "김철수",
        "田中さん",
        "タロー",
        "Tom田",
        "1st",
    ],
)
def test_names_of_the_world_are_kept_as_written(name: str) -> None:
    assert checked_name(name)[0] == name


@pytest.mark.parametrize(
    ("written", "kept"),
    [("Jose\u0301", "José"), ("Ａｎｎ", "Ann"), ("\u1100\u1161\u1100\u1161", "가가")],
)
def test_one_name_written_in_two_ways_is_kept_in_one(written: str, kept: str) -> None:
    assert checked_name(written)[0] == kept


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "space"),
        ("A", "2 to 20"),
        ("x" * 21, "that one has 21"),
        ("x" * 10_000, "2 to 20"),
        (" Ann", "space"),
        ("Ann ", "space"),
        ("Ann  Lee", "space"),
        ("a b c d", "3 words"),
        ("Ann\u00a0Lee", "letters"),
        ("Ann\tLee", "letters"),
        ("Ann\n", "letters"),
        ("Ann\x00", "letters"),
        ("Ann\u200b", "letters"),
        ("Ann\u200d", "letters"),
        ("\u202eAnn", "letters"),
        ("\u2067Ann\u2069", "letters"),
        ("Ann\ufeff", "letters"),
        ("Ann\U000e0041", "letters"),
        ("Ann\ud800", "letters"),
        ("😀😀", "letters"),
        ("ﬁsh", "letters"),
        ("x²", "letters"),
        ("Ⅳth", "letters"),
        ("a/b", "letters"),
        ("a@b", "letters"),
        ("<b>", "letters"),
        ("a'.b", "two signs"),
        ("12", "one letter"),
        ("--", "two signs"),
        ("a\u0301\u0301\u0301\u0301\u0301", "accents"),
        ("ab \u0301c", "accents"),
        ("4\u0301ab", "accents"),
        ("Annа", "one writing system"),
        ("Aлл", "one writing system"),
        ("שלוםab", "letters"),
        ("한국さん", "one writing system"),
        ("Ꮃab", "in use today"),
        ("ˮAnn", "looks like a letter"),
        ("a1٢", "letters"),
        ("ab९9", "digits of one kind"),
        ("ναι", "in Latin letters"),
    ],
)
def test_what_could_mislead_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(BadName, match=why):
        checked_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "house",
        "House",
        "H0use",
        "Admin",
        "Adm1n",
        "ADMIN",
        "the admin",
        "admin-1",
        "Saratoga",
        "Saratoga Staff",
        "moderator",
        "rnoderator",
        "bot",
        "B0T",
        "Вот",
        "ho-st",
        "nobody",
    ],
)
def test_reserved_names_are_refused_in_every_disguise(name: str) -> None:
    with pytest.raises(BadName, match="reserved for the server"):
        checked_name(name)


@pytest.mark.parametrize("name", ["Botticelli", "Robotnik", "Badminton", "Modesty", "Houseman"])
def test_names_that_only_contain_such_a_word_are_fine(name: str) -> None:
    assert checked_name(name)[0] == name


@given(st.text(max_size=24))
@example("ẞ" * 20)
@example("ΐ" * 19)
def test_whatever_is_accepted_is_accepted_again_as_it_is(text: str) -> None:
    try:
        name, key = checked_name(text)
    except BadName:
        return
    assert checked_name(name) == (name, key)
    assert SHORTEST <= len(name) <= LONGEST
    assert name == unicodedata.normalize("NFC", name)
    assert key
    assert not any(
        unicodedata.category(character)[0] in "CZ" for character in name if character != " "
    )


letters = st.text(
    alphabet="abcdefghijklmnopqrstuvwxyzäöüßéабвгдежзийклмнαβδεζηθ", min_size=2, max_size=8
)


@given(letters)
def test_upper_and_lower_case_make_no_other_name(text: str) -> None:
    try:
        keys = {checked_name(form)[1] for form in (text, text.upper(), text.lower(), text.title())}
    except BadName:
        return
    assert len(keys) == 1
