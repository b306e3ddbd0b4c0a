"""Verification of a record alone, and against the evidence that this machine saved."""

from dataclasses import replace

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.session.verification import Proof, prove
from saratoga_client.session.witness import Sighting
from saratoga_rules.records.record import format_record

RECORD = race(
    "caprice", 2, [Entrant("Anna", banking, patience=5), Entrant("Ben", wandering, patience=3)]
)
TEXT = format_record(RECORD).encode()


def failed(proof: Proof) -> set[str]:
    return {check.name for check in proof.checks if not check.ok}


def seen(commitment: str) -> Sighting:
    return Sighting(race=RECORD.race_id, game="caprice", commitment=commitment)


def test_a_good_record_of_a_race_not_seen_here_is_self_consistent_only() -> None:
    proof = prove(TEXT, RECORD.race_id)
    assert proof.ok
    assert proof.testimony.verdict == "self-consistent only"


def test_a_good_record_of_a_race_seen_here_is_witnessed() -> None:
    proof = prove(TEXT, RECORD.race_id, seen(RECORD.commitment))
    assert proof.ok
    assert proof.testimony.verdict == "witnessed here"
    assert proof.sentence == f"{RECORD.race_id} is verified: witnessed here."


def test_a_record_with_another_commitment_fails() -> None:
    assert failed(prove(TEXT, RECORD.race_id, seen("00" * 32))) == {"witness"}


def test_a_record_of_a_race_that_was_not_asked_for_fails() -> None:
    proof = prove(TEXT, "mint-otter-42/99", seen(RECORD.commitment))
    assert "race" in failed(proof)


def test_a_changed_record_fails() -> None:
    changed = TEXT.replace(b"cap 10", b"cap 20")
    proof = prove(changed, RECORD.race_id, seen(RECORD.commitment))
    assert "digest" in failed(proof)
    assert proof.sentence.startswith("NOT VERIFIED")


def test_a_record_with_another_order_fails() -> None:
    results = tuple(replace(row, place=1) for row in RECORD.results)
    proof = prove(format_record(replace(RECORD, results=results)).encode())
    assert "finish" in failed(proof)


def test_garbage_fails_and_does_not_raise() -> None:
    for junk in (b"", b"\xff\xfe", b"saratoga record 1\n", b"\n" * 1000):
        assert not prove(junk).ok
