"""The form of table codes: parsed as the server generates them, and in no other form."""

import re

import pytest

from saratoga_client.codes import RACE_ID, TABLE_CODE


@pytest.mark.parametrize("code", ["mint-otter-42", "airy-acorn-10", "lavender-carousel-99"])
def test_a_table_s_code_is_known_as_one(code: str) -> None:
    assert re.fullmatch(TABLE_CODE, code)
    assert re.fullmatch(RACE_ID, f"{code}/1")
    assert re.fullmatch(RACE_ID, f"{code}/999999")


@pytest.mark.parametrize(
    "race", ["mint-otter-42", "mint-otter-42/0", "mint-otter-42/1/2", "../42/1", "Mint-otter-42/1"]
)
def test_anything_else_is_no_race(race: str) -> None:
    assert not re.fullmatch(RACE_ID, race)
