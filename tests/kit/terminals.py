"""Texts by which a hostile server may try to control a terminal, or to hide a difference of two names."""

from typing import Final

TRICKS: Final = (
    "\x1b[2J",
    "\x1b]0;another title\x07",
    "\x9b31m",
    "\x08\x08",
    "\rAnna won",
    "\nrace mint-otter-42/3 is over",
    "\x7f",
    "\x00",
    "\u202egnp.exe",
    "\u2066",
    "\u200f",
    "\u2028",
    "\ufeff",
    "\u00ad",
    "\u034f",
    "\u180e",
    "\u3164",
    "\U000e0041",
)

HOSTILE: Final = "".join(TRICKS) + "[red on blue][link=http://cards.example]"
"""All tricks in one text, and Rich markup."""

OBEYED: Final = frozenset(
    chr(code)
    for first, last in [
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2066, 0x2069),
        (0xFEFF, 0xFEFF),
    ]
    for code in range(first, last + 1)
) | {"\u061c"}
"""Characters that a terminal obeys: C0, C1, line breaks, and changes of the writing direction."""
