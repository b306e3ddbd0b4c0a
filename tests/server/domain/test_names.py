"""Names of players, names that can be mistaken for each other, codes of tables, and names of periods."""

# ruff: noqa: RUF001  the letters that look like others are the point here
import re
import string
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saratoga_server.domain.lookalikes import is_mask, skeleton
from saratoga_server.domain.table_codes import table_code
from saratoga_server.domain.usernames import LONGEST, SHORTEST, BadName, checked_name
from saratoga_server.ports import Millis
from saratoga_server.store.leaderboards import periods

# Names: which are valid, reserved, or too similar to another


@pytest.mark.parametrize(
    "name",
    [
        *("Ann", "ab", "x" * 20, "Ann Lee", "Mary-Jane", "O'Neil", "J. R.", "kg_9", "José"),
        *("Nguyễn", "Łukasz", "Strauß", "Вера", "гора", "Γιάννης", "שלום", "محمد", "नमस्ते"),
        *("สมชาย", "김철수", "田中さん", "タロー", "Tom田", "1st"),
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
        *((name, "space") for name in ("", " Ann", "Ann ", "Ann  Lee")),
        *((name, "2 to 20") for name in ("A", "x" * 10_000)),
        ("x" * 21, "that one has 21"),
        ("a b c d", "3 words"),
        *(
            (name, "letters")
            for name in (
                *("Ann\u00a0Lee", "Ann\tLee", "Ann\n", "Ann\x00", "Ann\u200b", "Ann\u200d"),
                *("\u202eAnn", "\u2067Ann\u2069", "Ann\ufeff", "Ann\U000e0041", "Ann\ud800"),
                *("😀😀", "ﬁsh", "x²", "Ⅳth", "a/b", "a@b", "<b>", "שלוםab", "a1٢"),
            )
        ),
        *((name, "two signs") for name in ("a'.b", "--")),
        ("12", "one letter"),
        *(
            (name, "accents")
            for name in ("a\u0301\u0301\u0301\u0301\u0301", "ab \u0301c", "4\u0301ab")
        ),
        *((name, "one writing system") for name in ("Annа", "Aлл", "한국さん")),
        ("Ꮃab", "in use today"),
        ("ˮAnn", "looks like a letter"),
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
        *("house", "House", "H0use", "Admin", "Adm1n", "ADMIN", "the admin", "admin-1"),
        *("Saratoga", "Saratoga Staff", "moderator", "rnoderator", "bot", "B0T", "Вот"),
        *("ho-st", "nobody"),
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


# Lookalikes: names that can be mistaken for each other


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Ann", "ANN"), ("Bill", "BiII"), ("Bill", "B1ll"), ("Bill", "BILL"), ("Otto", "0tt0")),
        *(("Mary", "Rnary"), ("MARY", "rnary"), ("Ann Lee", "AnnLee"), ("Ann-Lee", "Ann_Lee")),
        *(("Strauß", "STRAUSS"), ("Anna", "Аnnа"), ("BEPA", "ВЕРА"), ("bepa", "вера")),
        *(("caxap", "сахар"), ("ΑΝΝΑ", "ANNA"), ("Ελένη", "ΕΛΈΝΗ")),
        *(("Ann", "Ａｎｎ"), ("Jose\u0301", "José")),
    ],
)
def test_look_alikes_are_one(name: str, other: str) -> None:
    assert skeleton(name) == skeleton(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Nina", "Viva"), ("Yan", "Uan"), ("Tony", "Tovy"), ("Jose", "José"), ("Zoe", "Zoë")),
        *(("Ann", "Anne"), ("Вера", "Мера"), ("田中", "中田"), ("Sam", "5am")),
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


@given(st.text(max_size=20))
def test_a_skeleton_is_its_own_skeleton(name: str) -> None:
    assert skeleton(skeleton(name)) == skeleton(name)


# the pattern of `saratoga_protocol.commands.Code`
CODE = re.compile(r"[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}")


def drawn(*numbers: int) -> Callable[[int], int]:
    """A random source that returns these numbers."""
    left = list(numbers)

    def chance(limit: int) -> int:
        return left.pop(0) % limit

    return chance


@given(st.tuples(*[st.integers(min_value=0)] * 3))
def test_every_code_is_a_code_on_the_wire(numbers: tuple[int, int, int]) -> None:
    assert CODE.fullmatch(table_code(drawn(*numbers)))


# The periods of leaderboards that a race counts for, by its start: in UTC, with ISO weeks


def at(text: str) -> Millis:
    return Millis(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000))


@pytest.mark.parametrize(
    ("start", "names"),
    [
        ("2026-09-01T00:00:00.000", ["2026-09-01", "2026-W36", "2026-09", "all"]),
        ("2026-08-31T23:59:59.999", ["2026-08-31", "2026-W36", "2026-08", "all"]),
        ("2027-01-03T12:00:00.000", ["2027-01-03", "2026-W53", "2027-01", "all"]),
        ("2024-12-30T12:00:00.000", ["2024-12-30", "2025-W01", "2024-12", "all"]),
    ],
)
def test_a_start_belongs_to_four_periods(start: str, names: list[str]) -> None:
    assert [period.name for period in periods(at(start))] == names


def test_a_period_goes_one_period_after_its_end() -> None:
    assert [period.gone for period in periods(at("2026-12-31T22:00:00.000"))] == [
        at("2027-01-02T00:00:00.000"),
        at("2027-01-11T00:00:00.000"),
        at("2027-02-01T00:00:00.000"),
        0,
    ]
