"""The voided races in a finished record, compared with what this machine saw of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kit.races import Entrant, race, void_record
from kit.sightings import announced
from kit.walks import banking
from saratoga_client.session.earlier_races import earlier_witness
from saratoga_client.session.verification import prove
from saratoga_client.session.witness import GONE, Sighting, Witness
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.record import RaceRecord, format_record

RECORD = race("canfield", 2, [Entrant("Anna", banking, patience=5)])
LINES = tuple(void_record(f"{RECORD.table}/{number}").line for number in (1, 2))
AFTER = replace(RECORD, voided=LINES)


def sighting(number: int, **changed: Any) -> Sighting:
    """Return what a machine saw of a voided race."""
    line = LINES[number - 1]
    seen = Sighting(
        race=f"{RECORD.table}/{number}",
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


def test_without_a_sighting_there_is_no_check(tmp_path: Path) -> None:
    assert earlier_witness(AFTER, Witness(tmp_path)) is None


def test_voided_races_listed_as_they_were_announced_are_confirmed(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    for number in (1, 2):
        witness.keep(sighting(number))
    check = earlier_witness(AFTER, witness)
    assert check is not None
    assert check.ok, check.detail
    assert check.detail.endswith(f": {RECORD.table}/1, {RECORD.table}/2")


def test_a_race_that_disappeared_and_is_not_listed_is_a_fault(tmp_path: Path) -> None:
    gone = sighting(2, voided="", alarms=[GONE])
    fault = failed(replace(RECORD, voided=()), tmp_path, sighting(1), gone)
    assert fault.startswith(f"the server discarded {RECORD.table}/2, but the record does not")
    assert f"the server voided {RECORD.table}/1, but" in fault


def test_a_race_that_this_machine_did_not_see_to_its_end_need_not_be_listed(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    witness.keep(sighting(2, voided=""))
    assert earlier_witness(replace(RECORD, voided=()), witness) is None


def test_a_listed_race_that_this_machine_did_not_see_hides_no_earlier_one(tmp_path: Path) -> None:
    fault = failed(replace(RECORD, voided=LINES[1:]), tmp_path, sighting(1))
    assert fault == f"the server voided {RECORD.table}/1, but the record does not list it"


def test_a_deal_whose_racers_were_not_listed_may_have_changed(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    changed = sighting(2, voided="", commitment="00" * 32, nonce_hashes={})
    witness.keep(changed)
    assert earlier_witness(AFTER, witness) is None


def test_a_race_voided_before_an_earlier_record_need_not_be_listed_again(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    witness.keep(sighting(1))
    witness.keep(sighting(2, voided="", outcome=announced(RECORD)))
    assert earlier_witness(RECORD, witness) is None


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"commitment": "00" * 32}, "is not the one announced before the race"),
        ({"voided": "tired"}, "the reason for the void was tired, and now is damaged"),
        ({"voided": "", "outcome": announced(RECORD)}, "announced a result of the race"),
    ],
)
def test_a_line_that_contradicts_what_was_seen_is_a_fault(
    changed: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    assert fault in failed(AFTER, tmp_path, sighting(2, **changed))
