"""The screens at a table equal their golden pictures, cell by cell."""

import os

import pytest

from kit.table_pictures import FOLDER, VARIABLE, painted, path, pictures

PICTURES = pictures()


@pytest.mark.parametrize("name", PICTURES)
async def test_a_screen_equals_its_picture(name: str) -> None:
    now = await painted(PICTURES[name]())
    if os.environ.get(VARIABLE):
        path(name).write_text(now, encoding="utf-8")
    assert now == path(name).read_text(encoding="utf-8")


def test_every_picture_in_the_folder_has_a_screen() -> None:
    assert {kept.stem for kept in FOLDER.glob("*.txt")} == set(PICTURES)
