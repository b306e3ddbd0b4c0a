"""Characters that a terminal obeys, or that nobody sees, are shown as their numbers; no others are."""

import sys
import unicodedata

from saratoga_protocol.visible_text import sanitised

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
