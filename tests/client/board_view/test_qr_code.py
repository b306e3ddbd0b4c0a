"""A link as a QR code, drawn with characters."""

import pytest
import segno

from saratoga_client.board_view.qr_code import QUIET, qr_lines

LINK = "http://192.168.100.100:7470/mint-otter-42"
PARTS = {" ": (False, False), "▀": (True, False), "▄": (False, True), "█": (True, True)}


def modules(text: str) -> list[list[bool]]:
    """Return the rows of the code, with its edge; dark modules are true."""
    rows = segno.make_qr(text, error="l").matrix_iter(border=QUIET)
    return [[bool(module) for module in row] for row in rows]


def halves(lines: tuple[str, ...]) -> list[list[bool]]:
    """Return the rows that the lines draw."""
    return [
        [PARTS[character][half] for character in line] for line in lines for half in (False, True)
    ]


def test_two_rows_of_the_code_share_a_line() -> None:
    drawn, code = halves(qr_lines(LINK, on_dark=False)), modules(LINK)
    assert drawn[: len(code)] == code
    assert len(drawn) - len(code) in (0, 1)


def test_light_characters_draw_the_light_parts() -> None:
    code = modules(LINK)
    drawn = halves(qr_lines(LINK))[: len(code)]
    assert drawn == [[not module for module in row] for row in code]


def test_with_ascii_only_a_module_is_two_characters_wide() -> None:
    lines, code = qr_lines(LINK, ascii_only=True, on_dark=False), modules(LINK)
    assert [[pair == "##" for pair in _pairs(line)] for line in lines] == code
    assert {pair for line in lines for pair in _pairs(line)} == {"##", "  "}


def _pairs(line: str) -> list[str]:
    return [line[at : at + 2] for at in range(0, len(line), 2)]


@pytest.mark.parametrize("link", [LINK, "https://patience.example.org/happy-galaxy-66"])
def test_a_usual_link_fits_a_small_terminal(link: str) -> None:
    lines = qr_lines(link)
    assert len(lines) <= 17
    assert {len(line) for line in lines} == {33}
