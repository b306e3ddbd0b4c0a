"""Voided races in the record of the race after them."""

from dataclasses import replace

import pytest

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.record import RaceRecord, format_record, parse_record
from saratoga_rules.records.verify import verify
from saratoga_rules.records.voided import VoidedLine

SEED = "5eed" * 16
AFTER = replace(race("canfield", 5, [Entrant("Anna", banking, patience=6)]))


def voided(number: int, table: str = AFTER.table) -> VoidedLine:
    return VoidedLine(
        race=number,
        game="lafayette",
        rules_version=1,
        reason="damaged",
        logs=1,
        commitment=commitment(bytes.fromhex(SEED), "lafayette", 1, table, number),
        seed=SEED,
        nonces={"annaannaannaanna": "0a" * 16, "zoezoezoezoezoez": "0b" * 16},
    )


def after(*races: VoidedLine) -> RaceRecord:
    """Return the record of a race after these voided ones."""
    return replace(AFTER, voided=races)


@pytest.mark.parametrize(
    "races",
    [[voided(1)], [voided(1), replace(voided(2), seed="", commitment="", nonces={}, logs=0)]],
)
def test_voided_races_written_and_read_are_the_same(races: list[VoidedLine]) -> None:
    record = after(*races)
    assert parse_record(format_record(record)) == record


def faults(record: RaceRecord) -> list[str]:
    record = replace(record, race=3)
    return [check.detail for check in verify(record).faults if check.name == "voided"]


def faults_of(*races: VoidedLine) -> list[str]:
    return [
        check.detail
        for check in verify(format_record(after(*races))).faults
        if check.name == "voided"
    ]


def test_a_race_cannot_be_voided_after_the_race_of_the_record() -> None:
    assert "cannot stand here among those voided" in faults_of(voided(AFTER.race))[0]


def test_a_voided_race_whose_seed_is_not_the_promised_one_is_a_fault() -> None:
    (fault,) = faults_of(replace(voided(AFTER.race - 1), seed="00" * 32))
    assert "has the commitment" in fault


@pytest.mark.parametrize("promise", [voided(AFTER.race - 1).commitment, ""])
def test_an_unreadable_seed_is_named_and_is_no_fault_of_the_race_after(promise: str) -> None:
    lost = replace(voided(AFTER.race - 1), seed="", commitment=promise)
    verdict = verify(format_record(after(lost)))
    assert verdict.ok, verdict.faults
    (check,) = (check for check in verdict.checks if check.name == "voided")
    assert f"commitment of {AFTER.table}/{AFTER.race - 1} could not be read" in check.detail


def test_an_honest_voided_race_verifies_and_is_named() -> None:
    verdict = verify(format_record(after(voided(AFTER.race - 1))))
    assert verdict.ok, verdict.faults
    (check,) = (check for check in verdict.checks if check.name == "voided")
    assert f"{AFTER.table}/{AFTER.race - 1}" in check.detail
