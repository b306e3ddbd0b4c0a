"""A link as a QR code, drawn with characters."""

from itertools import zip_longest
from typing import Final

import segno

QUIET: Final = 2
"""The width in modules of the empty edge; readers need it to find the code."""

_HALVES: Final = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


def qr_lines(text: str, *, ascii_only: bool = False, on_dark: bool = True) -> tuple[str, ...]:
    """Return the lines of the QR code of a text, all of one width.

    `on_dark`: characters are light on a dark ground, so they draw the light parts of the code. Two rows of
    modules share a line; with ASCII only, a module takes a line and two characters.
    """
    code = segno.make_qr(text, error="l")
    rows = [
        [bool(module) is not on_dark for module in row] for row in code.matrix_iter(border=QUIET)
    ]
    if ascii_only:
        return tuple("".join("##" if module else "  " for module in row) for row in rows)
    pairs = zip_longest(rows[::2], rows[1::2], fillvalue=[False] * len(rows[0]))
    return tuple(
        "".join(_HALVES[upper, lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs
    )
