"""Verification of a record alone, and against the evidence that this machine saved."""

from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as replaced

from kit.races import ANNA, NONCE, Entrant, race, void_record, voided_race
from kit.sightings import announced, sighting_of
from kit.walks import banking, wandering
from saratoga_client.session import testimony
from saratoga_client.session.seen_board import SeenEntry, SeenLoss
from saratoga_client.session.verification import LONGEST_FAULT, Proof, prove
from saratoga_client.session.witness import WITHHELD, Sighting
from saratoga_rules.dealing.fairness import commitment, nonce_hash
from saratoga_rules.records.checks import Check
from saratoga_rules.records.record import RaceRecord, chained, format_record
from saratoga_rules.records.void_record import format_void_record

RECORD = race(
    "caprice", 2, [Entrant("Anna", banking, patience=5), Entrant("Ben", wandering, patience=3)]
)
TEXT = format_record(RECORD).encode()


def failed(proof: Proof) -> set[str]:
    return {check.name for check in proof.checks if not check.ok}


def seen(commitment: str) -> Sighting:
    return Sighting(
        race=RECORD.race_id,
        game="caprice",
        commitment=commitment,
        start_at=RECORD.start_at,
        deadline=RECORD.start_at + RECORD.cap * 60_000,
    )


def test_a_good_record_of_a_race_not_seen_here_is_self_consistent_only() -> None:
    proof = prove(TEXT, RECORD.race_id)
    assert proof.ok
    assert proof.testimony.verdict == "self-consistent only"


def test_a_record_of_a_race_that_was_not_asked_for_fails() -> None:
    proof = prove(TEXT, "mint-otter-42/99", seen(RECORD.commitment))
    assert "race" in failed(proof)


def of_a_newer_release(**changes: Any) -> RaceRecord:
    """Return the race as an honest server of a newer release would have promised and played it."""
    newer = replace(RECORD, **changes)
    promise = commitment(
        bytes.fromhex(newer.seed),
        newer.game,
        newer.rules_version,
        newer.table,
        newer.race,
        cap=newer.cap,
        public=newer.public,
    )
    return replace(newer, commitment=promise)


def written(text: str) -> bytes:
    """Return the lines of a record with their digest."""
    lines = text.split("\n")[:-2]
    return "\n".join([*lines, f"digest {chained(lines)}", ""]).encode()


@pytest.mark.parametrize(
    ("newer", "text"),
    [
        ({"rules_version": 2}, ("", "")),
        ({"game": "golf"}, ("", "")),
        ({"cap": 15}, ("", "")),
        ({}, ("saratoga record 1", "saratoga record 2")),
    ],
)
def test_an_honest_record_of_a_newer_release_is_no_contradiction(
    newer: dict[str, Any], text: tuple[str, str]
) -> None:
    record = of_a_newer_release(**newer)
    content = written(format_record(record).replace(*text) if text[0] else format_record(record))
    sighting = Sighting(
        race=record.race_id,
        game=record.game,
        commitment=record.commitment,
        start_at=record.start_at,
        deadline=record.start_at + record.cap * 60_000,
        cap=record.cap,
    )
    proof = prove(content, record.race_id, sighting)
    assert (proof.ok, proof.is_contradicted, proof.faults) == (False, False, ())
    assert proof.verdict == "cannot be checked here"
    assert " cannot be checked here: " in proof.sentence


def test_a_void_for_a_reason_of_a_newer_release_is_no_contradiction() -> None:
    text = format_void_record(void_record()).replace("reason damaged", "reason flooded")
    proof = prove(written(text))
    assert (proof.ok, proof.is_contradicted) == (False, False)


def test_a_server_cannot_hide_a_contradiction_behind_a_newer_release() -> None:
    rules = prove(format_record(replace(RECORD, rules_version=2)).encode(), RECORD.race_id)
    assert failed(rules) == {"rules", "commitment"}
    sighting = sighting_of(RECORD)
    cap = prove(format_record(of_a_newer_release(cap=15)).encode(), RECORD.race_id, sighting)
    assert rules.is_contradicted
    assert cap.is_contradicted
    assert "the cap was 10, and in the record is 15" in cap.faults


def test_a_record_with_another_order_fails() -> None:
    results = tuple(replace(row, place=1) for row in RECORD.results)
    proof = prove(format_record(replace(RECORD, results=results)).encode())
    assert "finish" in failed(proof)


def test_a_race_about_which_this_machine_raised_alarms_fails() -> None:
    sighting = replaced(sighting_of(RECORD), alarms=["the deal was changed", WITHHELD])
    proof = prove(TEXT, RECORD.race_id, sighting)
    assert failed(proof) == {"alarms"}
    assert proof.faults == ("the deal was changed",), "the record is no longer withheld"
    assert (proof.testimony.verdict, proof.verdict) == ("witnessed here", "not verified")


def test_moves_that_the_server_says_it_lost_stand_in_the_verdict() -> None:
    seen = sighting_of(RECORD)
    beyond = [SeenEntry(len(seen.entries) + 1, 1, 900, "draw", 800), SeenLoss(1)]
    lost = replaced(seen, durability="fast", own=(*seen.own, *beyond))
    proof = prove(TEXT, RECORD.race_id, lost)
    assert proof.sentence == (
        f"{RECORD.race_id} is verified: witnessed here. "
        "The server says that it lost 1 move that this machine saw."
    )
    (check,) = (check for check in proof.checks if check.name == "witness")
    assert check.detail.endswith("; the server says that it lost 1 move that this machine saw")
    assert not prove(TEXT, RECORD.race_id, replaced(lost, durability="safe")).ok


def test_another_record_than_the_one_kept_here_fails() -> None:
    kept = TEXT.decode()
    other = format_record(replace(RECORD, start_at=RECORD.start_at - 1)).encode()
    assert prove(TEXT, kept=kept).ok
    proof = prove(other, kept=kept)
    assert failed(proof) == {"kept"}
    (fault,) = proof.faults
    assert "this machine keeps another record" in fault


def test_a_result_that_was_announced_otherwise_fails() -> None:
    told = replaced(sighting_of(RECORD), outcome=replaced(announced(RECORD), results=[]))
    proof = prove(TEXT, RECORD.race_id, told)
    assert failed(proof) == {"witness"}
    assert proof.verdict == "not the race seen here"


def test_a_record_that_fails_by_itself_is_not_witnessed() -> None:
    results = tuple(replace(row, place=1) for row in RECORD.results)
    record = replace(RECORD, results=results)
    proof = prove(format_record(record).encode(), RECORD.race_id, sighting_of(record))
    assert (failed(proof), proof.verdict) == ({"finish"}, "not verified")


def test_a_fault_is_not_longer_than_an_alarm_may_be() -> None:
    check = Check("moves", False, "a" * 10_000)
    proof = Proof(
        checks=(check,),
        testimony=testimony.Testimony((), ()),
        record=None,
        void=None,
        standing=(),
        digest="",
    )
    (fault,) = proof.faults
    assert fault.startswith("the record is not verified: aaa")
    assert len(fault) < 2 * LONGEST_FAULT


def test_garbage_fails_and_does_not_raise() -> None:
    for junk in (b"", b"\xff\xfe", b"saratoga record 1\n", b"\n" * 1000):
        assert not prove(junk).ok


def test_the_record_of_a_voided_race_says_that_it_counts_for_nothing() -> None:
    text, voided = format_void_record(void_record()).encode(), voided_race()
    sighting = Sighting(
        race=voided.race,
        game="canfield",
        commitment=voided.commitment,
        player=ANNA,
        nonce=NONCE,
        nonce_hashes={ANNA: nonce_hash(bytes.fromhex(NONCE))},
    )
    proof = prove(text, voided.race, sighting)
    assert proof.ok, proof.checks
    assert (proof.record, proof.race, proof.game) == (None, voided.race, "canfield")
    assert proof.sentence == (
        "mint-otter-42/1 was voided by the server, so it counts for nothing. What the server opened of "
        "it is verified: witnessed here."
    )
    assert failed(prove(text, "mint-otter-42/2", sighting)) == {"race"}
    assert failed(prove(text, voided.race, seen("00" * 32))) == {"witness"}
