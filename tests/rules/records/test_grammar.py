"""The form of records: no other is read."""

import re
from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from kit.races import Entrant, race, void_record
from kit.record_lies import LOOSE, loosened, sealed
from kit.walks import banking, wandering
from saratoga_rules.records import grammar
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import format_record, parse_record
from saratoga_rules.records.void_record import format_void_record, parse_void_record

FIELD = [Entrant("Anna", banking, patience=60), Entrant("Zoë \U00020000", wandering, bot=True)]


@pytest.mark.parametrize(
    ("text", "parse"),
    [
        (format_record(race("lafayette", 1, FIELD)), parse_record),
        (format_record(race("klondike", 1, FIELD)), parse_record),
        (format_void_record(void_record()), parse_void_record),
    ],
    ids=["race", "race with face-down cards", "void"],
)
def test_no_other_form_is_read_though_the_digest_fits(
    text: str, parse: Callable[[str], object]
) -> None:
    lines = text.split("\n")[:-2]
    chance = Random("loose forms")
    places = sorted({*range(14), *chance.sample(range(len(lines)), min(12, len(lines)))})
    tried = 0
    for place, (sought, put) in product([each for each in places if each < len(lines)], LOOSE):
        changed = loosened(lines[place], sought, put)
        if changed == lines[place]:
            continue
        forged = sealed([*lines[:place], changed, *lines[place + 1 :]])
        tried += 1
        with pytest.raises(RecordError):
            parse(forged)
    assert tried > 100


@pytest.mark.parametrize("code", ["mint-otter-42", "airy-acorn-10", "lavender-carousel-99"])
def test_a_table_s_code_is_known_as_one(code: str) -> None:
    assert re.fullmatch(grammar.TABLE_CODE, code)
    assert re.fullmatch(grammar.RACE_ID, f"{code}/1")
    assert re.fullmatch(grammar.RACE_ID, f"{code}/999999")


@pytest.mark.parametrize(
    "race_id",
    ["mint-otter-42", "mint-otter-42/0", "mint-otter-42/1/2", "../42/1", "Mint-otter-42/1"],
)
def test_anything_else_is_no_race(race_id: str) -> None:
    assert not re.fullmatch(grammar.RACE_ID, race_id)
