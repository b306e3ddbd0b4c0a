"""Voided races in the record of the race after them."""

from dataclasses import replace

import pytest

from kit.races import Entrant, race
from kit.voided_races import void_record
from kit.walks import banking
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import format_record, parse_record
from saratoga_rules.records.voided import MOST_VOIDED, NONCE_MISSING, RACER_LEFT, VoidedLine

AFTER = race("canfield", 5, [Entrant("Anna", banking, patience=6)])


def voided(number: int) -> VoidedLine:
    return void_record(f"{AFTER.table}/{number}", "lafayette").line


MANY_NONCES = {f"{'a' * 15}{letter}": "0a" * 16 for letter in "abcdefghijklmnopq"}
LEFT = replace(voided(1), reason=RACER_LEFT, logs=0, left="a" * 16)


@pytest.mark.parametrize(
    "races",
    [
        [voided(1)],
        [LEFT],
        [voided(1), replace(voided(2), seed="", commitment="", nonces={}, logs=0)],
    ],
)
def test_voided_races_written_and_read_are_the_same(races: list[VoidedLine]) -> None:
    record = replace(AFTER, voided=tuple(races))
    assert parse_record(format_record(record)) == record


@pytest.mark.parametrize(
    ("races", "said"),
    [
        ([replace(voided(1), cap=0, public=True)], "has a time limit"),
        ([replace(voided(1), reason=NONCE_MISSING, logs=1)], "has no logs"),
        ([replace(LEFT, left="")], "the racer who left"),
        ([replace(voided(1), left="a" * 16)], "voided-left"),
        ([replace(voided(1), missing={"a" * 16: "ab" * 32})], "has every nonce"),
        ([replace(voided(1), nonces=MANY_NONCES)], "more than 16 racers"),
        ([voided(number) for number in range(1, MOST_VOIDED + 2)], "more than 16"),
    ],
)
def test_voided_races_that_no_server_lists_are_refused(races: list[VoidedLine], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        parse_record(format_record(replace(AFTER, voided=tuple(races))))
