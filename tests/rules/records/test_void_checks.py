"""The checks of voided races in the record of the race after them."""

from dataclasses import replace

import pytest

from kit.races import Entrant, race
from kit.voided_races import ANNA, void_record
from kit.walks import banking
from saratoga_rules.records.record import format_record
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import format_void_record
from saratoga_rules.records.voided import (
    CLOSED,
    CLOSED_IN_COUNTDOWN,
    NONCE_MISSING,
    RACER_LEFT,
    SERVER_AWAY,
    VoidedLine,
)

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


@pytest.mark.parametrize("reason", [NONCE_MISSING, SERVER_AWAY])
def test_a_countdown_voided_for_a_missing_nonce_names_it(reason: str) -> None:
    countdown = replace(voided(AFTER.race - 1), reason=reason, logs=0)
    assert "but every nonce was revealed" in faults_of(countdown)[0]
    assert faults_of(replace(countdown, missing={"b" * 16: "ab" * 32})) == []


def test_a_countdown_voided_because_a_racer_left_names_one_of_its_racers() -> None:
    countdown = replace(voided(AFTER.race - 1), reason=RACER_LEFT, logs=0, left="b" * 16)
    assert "none of its racers is named" in faults_of(countdown)[0]
    missing = {"b" * 16: "ab" * 32}
    assert faults_of(replace(countdown, missing=missing)) == []
    assert faults_of(replace(countdown, left=ANNA)) == []


def test_the_record_of_a_countdown_that_a_racer_left_names_the_racer_and_blames_nobody_else() -> (
    None
):
    (racer,) = void_record().racers
    revealed = replace(racer, log=(), complete=False)
    waiting = replace(revealed, player="b" * 16, name="Bert", nonce="", missing="ab" * 32)
    record = replace(void_record(), reason=RACER_LEFT, racers=(revealed, waiting), left=ANNA)
    verdict = verify(format_void_record(record))
    assert verdict.ok, verdict.faults
    said = {check.name: check.detail for check in verdict.checks}
    assert said["nonces"] == "the countdown ended before the nonce of Bert came"
    assert said["voided"].startswith("Anna left in the countdown; no race started.")
    lying = verify(format_void_record(replace(record, left="c" * 16)))
    assert [check.name for check in lying.faults] == ["voided"]


def test_a_closed_table_has_no_later_race() -> None:
    last = voided(AFTER.race - 1)
    assert "was closed in race" in faults_of(replace(last, reason=CLOSED))[0]
    countdown = replace(last, reason=CLOSED_IN_COUNTDOWN, logs=0)
    assert "was closed in race" in faults_of(countdown)[0]


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
