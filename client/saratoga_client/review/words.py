"""Card names for terminals without symbols of suits."""

from typing import Final

_LETTERS: Final = str.maketrans(
    {"\u2663": "c", "\u2660": "s", "\u2665": "h", "\u2666": "d", "\u2661": "h", "\u2662": "d"}
)


def in_ascii(text: str) -> str:
    r"""Return a text with letters in place of the symbols of suits.

    >>> in_ascii("10\u2665 from column 2 banked")
    '10h from column 2 banked'
    """
    return text.translate(_LETTERS)
