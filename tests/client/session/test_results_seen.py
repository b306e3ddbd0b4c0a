"""Results, matches and voided races as they were announced, compared with what this machine saw."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, fields, replace

from kit.finished_races import finished_race
from kit.races import Entrant, race, void_record
from kit.sightings import announced
from kit.walks import banking
from saratoga_client.session.announced_result import (
    faults_of_outcome,
    faults_of_repeat,
)
from saratoga_client.session.earlier_races import earlier_witness
from saratoga_client.session.verification import prove
from saratoga_client.session.witness import GONE, Sighting, Witness
from saratoga_protocol.events import Outcome
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.record import RaceRecord, format_record

RECORD = finished_race()
TOLD = announced(RECORD)

OTHERS: dict[str, Any] = {
    "digest": "00" * 32,
    "nonces": {},
    "results": [],
    "tie": "reached it later",
}
"""Another value of a field, if neither one more nor another text will do."""


def other(value: object, name: str) -> Any:
    if name in OTHERS:
        return OTHERS[name]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"


@pytest.mark.parametrize("name", [field.name for field in fields(Outcome)])
def test_every_field_of_the_result_is_compared(name: str) -> None:
    lie = replace(TOLD, **{name: other(asdict(TOLD)[name], name)})
    (fault,) = faults_of_outcome(lie, RECORD, TOLD.digest)
    assert "in the record" in fault
    (fault,) = faults_of_repeat(TOLD, lie)
    assert "in a later announcement" in fault


RECORD_OF_EARLIER_RACES = race("canfield", 2, [Entrant("Anna", banking, patience=5)])
LINES = tuple(void_record(f"{RECORD_OF_EARLIER_RACES.table}/{number}").line for number in (1, 2))
AFTER = dataclasses.replace(RECORD_OF_EARLIER_RACES, voided=LINES)


def sighting(number: int, **changed: Any) -> Sighting:
    """Return what a machine saw of a voided race."""
    line = LINES[number - 1]
    seen = Sighting(
        race=f"{RECORD_OF_EARLIER_RACES.table}/{number}",
        game=line.game,
        commitment=line.commitment,
        nonce_hashes={
            player: nonce_hash(bytes.fromhex(nonce)) for player, nonce in line.nonces.items()
        },
        voided="damaged",
    )
    return msgspec.structs.replace(seen, **changed)


def failed(record: RaceRecord, folder: Path, *seen: Sighting) -> str:
    """Return what the only failed check of a record says to a machine with these sightings."""
    witness = Witness(folder)
    for each in seen:
        witness.keep(each)
    proof = prove(format_record(record).encode(), witness=witness)
    (check,) = (check for check in proof.checks if not check.ok)
    assert check.name == "earlier-witness"
    return check.detail


def test_a_race_that_disappeared_and_is_not_listed_is_a_fault(tmp_path: Path) -> None:
    gone = sighting(2, voided="", alarms=[GONE])
    fault = failed(
        dataclasses.replace(RECORD_OF_EARLIER_RACES, voided=()), tmp_path, sighting(1), gone
    )
    assert fault.startswith(
        f"the server discarded {RECORD_OF_EARLIER_RACES.table}/2, but the record does not"
    )
    assert f"the server voided {RECORD_OF_EARLIER_RACES.table}/1, but" in fault


def test_a_race_that_this_machine_did_not_see_to_its_end_need_not_be_listed(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    witness.keep(sighting(2, voided=""))
    assert earlier_witness(dataclasses.replace(RECORD_OF_EARLIER_RACES, voided=()), witness) is None


def test_a_deal_whose_racers_were_not_listed_may_have_changed(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    changed = sighting(2, voided="", commitment="00" * 32, nonce_hashes={})
    witness.keep(changed)
    assert earlier_witness(AFTER, witness) is None


def test_a_race_voided_before_an_earlier_record_need_not_be_listed_again(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    witness.keep(sighting(1))
    witness.keep(sighting(2, voided="", outcome=announced(RECORD_OF_EARLIER_RACES)))
    assert earlier_witness(RECORD_OF_EARLIER_RACES, witness) is None
