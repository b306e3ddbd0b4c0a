"""The screens at a table, cell by cell, as they were looked at and found good."""

import os

import pytest

from kit.table_pictures import FOLDER, VARIABLE, painted, path, pictures

PICTURES = pictures()


@pytest.mark.parametrize("name", PICTURES)
async def test_a_screen_looks_as_it_did(name: str) -> None:
    now = await painted(PICTURES[name]())
    if os.environ.get(VARIABLE):
        path(name).write_text(now, encoding="utf-8")
    assert now == path(name).read_text(encoding="utf-8")


def test_no_picture_is_kept_that_nobody_paints() -> None:
    assert {kept.stem for kept in FOLDER.glob("*.txt")} == set(PICTURES)
