"""The checks of voided races in the record of the race after them."""

from dataclasses import replace

import pytest

from kit.races import Entrant, race
from kit.voided_races import void_record
from kit.walks import banking
from saratoga_rules.records.record import format_record
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import format_void_record
from saratoga_rules.records.voided import NONCE_MISSING, VoidedLine

AFTER = race("canfield", 5, [Entrant("Anna", banking, patience=6)])


def voided(number: int) -> VoidedLine:
    return void_record(f"{AFTER.table}/{number}", "lafayette").line


def faults_of(*races: VoidedLine) -> list[str]:
    return [
        check.detail
        for check in verify(format_record(replace(AFTER, voided=races))).faults
        if check.name == "earlier"
    ]


def test_a_race_cannot_be_voided_after_the_race_of_the_record() -> None:
    assert "cannot stand here among those voided" in faults_of(voided(AFTER.race))[0]


def test_the_numbers_of_voided_races_lead_up_to_the_races_own_without_a_gap() -> None:
    first, second = voided(AFTER.race - 2), voided(AFTER.race - 1)
    assert faults_of(first, second) == faults_of(second) == []
    assert "cannot stand here" in faults_of(first)[0]


def test_a_countdown_voided_for_a_missing_nonce_names_it() -> None:
    countdown = replace(voided(AFTER.race - 1), reason=NONCE_MISSING, logs=0)
    assert "but none is missing" in faults_of(countdown)[0]
    assert faults_of(replace(countdown, missing={"b" * 16: "ab" * 32})) == []


def test_the_record_of_a_voided_countdown_verifies_and_names_who_did_not_reveal() -> None:
    (racer,) = void_record().racers
    revealed = replace(racer, log=(), complete=False)
    withheld = replace(revealed, player="b" * 16, name="Bert", nonce="", missing="ab" * 32)
    record = replace(void_record(), reason=NONCE_MISSING, racers=(revealed, withheld))
    verdict = verify(format_void_record(record))
    assert verdict.ok, verdict.faults
    assert "not revealed: the nonce of Bert" in [check.detail for check in verdict.checks]
    honest = verify(format_void_record(replace(record, racers=(revealed,))))
    assert [check.name for check in honest.faults] == ["voided"]


def test_a_voided_race_whose_seed_is_not_the_promised_one_is_a_fault() -> None:
    (fault,) = faults_of(replace(voided(AFTER.race - 1), seed="00" * 32))
    assert "has the commitment" in fault


@pytest.mark.parametrize("promise", [voided(AFTER.race - 1).commitment, ""])
def test_an_unreadable_seed_is_named_and_is_no_fault_of_the_race_after(promise: str) -> None:
    lost = replace(voided(AFTER.race - 1), seed="", commitment=promise)
    verdict = verify(format_record(replace(AFTER, voided=(lost,))))
    assert verdict.ok, verdict.faults
    (check,) = (check for check in verdict.checks if check.name == "earlier")
    assert f"commitment of {AFTER.table}/{AFTER.race - 1} could not be read" in check.detail


def test_an_honest_voided_race_verifies_and_is_named() -> None:
    verdict = verify(format_record(replace(AFTER, voided=(voided(AFTER.race - 1),))))
    assert verdict.ok, verdict.faults
    (check,) = (check for check in verdict.checks if check.name == "earlier")
    assert f"{AFTER.table}/{AFTER.race - 1}" in check.detail
