"""Boards and screens equal their golden pictures; those at a table cell by cell."""

import asyncio
from pathlib import Path

import pytest

from kit.pictures import ALONE, AT_TABLES, BOARDS, pictures

PICTURES = dict(pictures())


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_screen_equals_its_picture(path: Path) -> None:
    assert asyncio.run(PICTURES[path]()) == path.read_text(encoding="utf-8")


def test_every_picture_in_the_folders_is_drawn() -> None:
    kept = {path for folder in (BOARDS, AT_TABLES, ALONE) for path in folder.glob("*.txt")}
    assert kept == set(PICTURES)
