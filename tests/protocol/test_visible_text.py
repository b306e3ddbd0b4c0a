"""Characters that a terminal obeys, or that nobody sees, are shown as their numbers; no others are."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_protocol.visible_text import sanitised, sanitised_json

JOINERS = "\u200c\u200d"

VISIBLE_FORMATS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters with a shape of their own: they stand before or around numbers."""

IGNORABLE = [
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
]
"""The property Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 16."""

UNSEEN = {chr(code) for first, last in IGNORABLE for code in range(first, last + 1)} | {
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    and character not in VISIBLE_FORMATS
}


def test_every_unseen_character_is_shown_as_its_number() -> None:
    shown = [sanitised(f"a{character}b") for character in sorted(UNSEEN)]
    assert shown == [f"a<U+{ord(character):04X}>b" for character in sorted(UNSEEN)]


def test_every_other_character_of_unicode_is_unchanged() -> None:
    others = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) not in ("Cn", "Co") and character not in UNSEEN
    ]
    assert sanitised("".join(others)) == "".join(others)


@pytest.mark.parametrize("word", ["क्\u200dष", "می\u200cرم", "ශ්\u200dරී"])
def test_a_joiner_stays_where_a_language_needs_it(word: str) -> None:
    assert sanitised(word) == word


@pytest.mark.parametrize("joiner", JOINERS)
@pytest.mark.parametrize("name", ["{}Anna", "An{}na", "Anna{}", "王{}小", "م{}", "क्{0}{0}ष", "{0}"])
def test_a_joiner_elsewhere_is_shown(name: str, joiner: str) -> None:
    assert f"<U+{ord(joiner):04X}>" in sanitised(name.format(joiner))


@given(st.text(st.sampled_from("aमी्य\u200c\u200d\u00ad<")))
def test_what_is_shown_stays_as_it_is(text: str) -> None:
    assert sanitised(sanitised(text)) == sanitised(text)


@given(st.text(st.sampled_from('a\\"\x9b\u00ad\U000e0041\n')))
def test_json_says_the_same_in_visible_characters(text: str) -> None:
    safe = sanitised_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(safe) == text
    assert not UNSEEN & set(safe)
