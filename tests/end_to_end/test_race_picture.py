"""The picture of a race in the README shows the program, and loads nothing from the network."""

import re
from pathlib import Path
from xml.etree import ElementTree

from kit.race_picture import COLUMNS, PICTURE, without_remote_fonts

ROOT = Path(__file__).parents[2]


def letters() -> str:
    """Return the text of the picture, line by line."""
    lines: dict[float, list[str]] = {}
    for text in ElementTree.parse(PICTURE).iter("{http://www.w3.org/2000/svg}text"):
        lines.setdefault(float(text.get("y", 0)), []).append("".join(text.itertext()))
    return "\n".join("".join(lines[y]) for y in sorted(lines)).replace("\xa0", " ")


def test_the_readme_shows_the_picture() -> None:
    assert f"]({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text()


def test_the_picture_shows_a_running_race() -> None:
    shown = letters()
    for words in ("LADY PALK", "RACE", "YOU", "banked over time", "enter plays it", "cash out"):
        assert words in shown
    assert max(map(len, shown.splitlines())) <= COLUMNS + 1


def test_the_picture_loads_nothing_from_the_network() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "@font-face" not in text
    assert "<image" not in text


def test_remote_fonts_are_left_out() -> None:
    made = '@font-face {\n src: url("https://fonts.example/a.woff2");\n}\nfont-family: Some, monospace;'
    assert without_remote_fonts(made).startswith("font-family: ui-monospace,")
