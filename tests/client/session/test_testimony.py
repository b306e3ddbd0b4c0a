"""Verification of a record, alone and against what this machine saw of its race."""

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replaced

from kit.races import Entrant, race, void_record
from kit.sightings import sighting_of, watcher_of
from kit.walks import banking, wandering
from saratoga_client.session.testimony import VOID_AND_RESULT, compare_with_record
from saratoga_client.session.verification import Proof, prove
from saratoga_client.session.witness import (
    WITHHELD,
    Sighting,
)
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.record import RaceRecord, digest_of, format_record


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return race("canfield", 1, [Entrant("Anna", banking), Entrant("Bert", wandering, patience=90)])


def test_the_record_of_a_race_seen_here_is_witnessed(record: RaceRecord) -> None:
    said = compare_with_record(sighting_of(record), format_record(record))
    assert said.disagreements == ()
    assert said.seen == (
        *("commitment", "nonces", "racers", "time limit", "start"),
        *("deal", "moves", "boards", "standings", "result"),
    )
    assert said.verdict == "witnessed here"


def test_a_watched_race_is_not_witnessed(record: RaceRecord) -> None:
    said = compare_with_record(watcher_of(record), format_record(record))
    assert (said.disagreements, said.verdict) == ((), "watched here")


def test_a_race_seen_only_at_its_end_is_self_consistent_only(record: RaceRecord) -> None:
    late = replace(watcher_of(record), nonce_hashes={}, names={}, bots=[], cap=None)
    said = compare_with_record(late, format_record(record))
    assert (said.disagreements, said.verdict) == ((), "self-consistent only")


def test_a_text_that_is_no_record_disagrees(record: RaceRecord) -> None:
    said = compare_with_record(sighting_of(record), "draw\n")
    assert said.verdict == "not the race seen here"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"race": "mint-otter-42/9"}, "not of mint-otter-42/9"),
        ({"game": "caprice"}, "of caprice"),
        ({"commitment": "00" * 32}, "commitment is not the one"),
        ({"nonce": "00" * 16}, "nonce for this player"),
        ({"deal": "another"}, "deal is not the one"),
        ({"cap": 5}, "the time limit was 5 minutes, and in the record is 10"),
        ({"deadline": 0}, "the deadline was 0, and by the record it was"),
        ({"nonce_hashes": {"zz": "00" * 32}}, "was in the countdown, but is not in the record"),
        ({"nonce_hashes": {"zz": "00" * 32}}, "is in the record, but was not in the countdown"),
    ],
)
def test_a_record_that_differs_from_the_sighting_disagrees(
    record: RaceRecord, change: dict[str, Any], sentence: str
) -> None:
    sighting = replace(sighting_of(record), **change)
    said = compare_with_record(sighting, format_record(record))
    assert any(sentence in disagreement for disagreement in said.disagreements)
    assert said.verdict == "not the race seen here"


@pytest.mark.parametrize("durability", ["fast", "safe"])
def test_a_result_after_a_void_disagrees_unless_the_server_may_lose_data(
    record: RaceRecord, durability: str
) -> None:
    told = replace(sighting_of(record), voided="damaged", durability=durability)
    said = compare_with_record(told, format_record(record))
    assert said.disagreements == (() if durability == "fast" else (VOID_AND_RESULT,))


def test_a_player_who_was_ready_and_did_not_race_is_no_disagreement(record: RaceRecord) -> None:
    sighting = replace(watcher_of(record), player="zz", nonce="00" * 16)
    said = compare_with_record(sighting, format_record(record))
    assert said.disagreements == ()
    assert said.verdict == "watched here"


def test_a_deal_whose_racers_were_not_listed_may_have_changed(record: RaceRecord) -> None:
    ready = Sighting(
        race=record.race_id, game="caprice", commitment="00" * 32, nonce="00" * 16, player="zz"
    )
    said = compare_with_record(ready, format_record(record))
    assert (said.disagreements, said.verdict) == ((), "self-consistent only")


def test_a_nonce_that_does_not_match_its_hash_disagrees(record: RaceRecord) -> None:
    hashes = {racer.player: racer.nonce_hash for racer in record.racers}
    liar = record.racers[1].player
    sighting = replace(sighting_of(record), nonce_hashes={**hashes, liar: "00" * 32})
    (disagreement,) = compare_with_record(sighting, format_record(record)).disagreements
    assert disagreement.startswith(f"the nonce of {liar} does not match")


VOID = void_record()
ANNA = VOID.racers[0]
SEEN = Sighting(
    race=VOID.race_id,
    game="canfield",
    commitment=VOID.commitment,
    player=ANNA.player,
    nonce=ANNA.nonce,
    nonce_hashes={ANNA.player: ANNA.nonce_hash},
)


def test_the_record_of_a_voided_race_is_compared_with_what_was_seen() -> None:
    text = format_record(VOID)
    testimony = compare_with_record(SEEN, text)
    assert (testimony.seen, testimony.disagreements) == (("commitment", "nonces"), ())
    assert testimony.verdict == "witnessed here"
    other = replace(SEEN, commitment="00" * 32, nonce_hashes={ANNA.player: "00" * 32})
    assert len(compare_with_record(other, text).disagreements) == 2


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


def of_a_newer_release(**changes: Any) -> RaceRecord:
    """Return the race as an honest server of a newer release would have promised and played it."""
    newer = dataclasses.replace(RECORD, **changes)
    promise = commitment(
        bytes.fromhex(newer.seed),
        newer.game,
        newer.rules_version,
        newer.table,
        newer.race,
        cap=newer.cap,
        public=newer.public,
    )
    return dataclasses.replace(newer, commitment=promise)


def written(text: str) -> bytes:
    """Return the lines of a record with their digest."""
    head, _, _ = text.rpartition("digest ")
    return f"{head}digest {digest_of(text)}\n".encode()


@pytest.mark.parametrize(
    ("newer", "text"),
    [
        ({"rules_version": 2}, ("", "")),
        ({"game": "golf"}, ("", "")),
        ({}, ("saratoga record 2", "saratoga record 3")),
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


def test_limits_and_reasons_of_a_newer_release_are_checked_all_the_same() -> None:
    assert prove(format_record(of_a_newer_release(cap=15)).encode()).ok
    assert prove(format_record(dataclasses.replace(VOID, voided="flooded")).encode()).ok


def test_a_server_cannot_hide_a_contradiction_behind_a_newer_release() -> None:
    rules = prove(
        format_record(dataclasses.replace(RECORD, rules_version=2)).encode(), RECORD.race_id
    )
    assert failed(rules) == {"rules", "commitment"}
    sighting = sighting_of(RECORD)
    cap = prove(format_record(of_a_newer_release(cap=15)).encode(), RECORD.race_id, sighting)
    assert rules.is_contradicted
    assert cap.is_contradicted
    assert "the time limit was 10 minutes, and in the record is 15" in cap.faults


def test_a_race_about_which_this_machine_raised_alarms_fails() -> None:
    sighting = replaced(sighting_of(RECORD), alarms=["the deal was changed", WITHHELD])
    proof = prove(TEXT, RECORD.race_id, sighting)
    assert failed(proof) == {"alarms"}
    assert proof.faults == ("the deal was changed",), "the record is no longer withheld"
    assert (proof.testimony.verdict, proof.verdict) == ("witnessed here", "not verified")


def test_another_record_than_the_one_kept_here_fails() -> None:
    kept = TEXT.decode()
    other = format_record(dataclasses.replace(RECORD, start_at=RECORD.start_at - 1)).encode()
    assert prove(TEXT, kept=kept).ok
    proof = prove(other, kept=kept)
    assert failed(proof) == {"kept"}
    (fault,) = proof.faults
    assert "this machine keeps another record" in fault


def test_garbage_fails_and_does_not_raise() -> None:
    for junk in (b"", b"\xff\xfe", b"saratoga record 2\n", b"\n" * 1000):
        assert not prove(junk).ok


def test_the_record_of_a_voided_race_says_that_it_counts_for_nothing() -> None:
    text, sighting = format_record(VOID).encode(), SEEN
    proof = prove(text, VOID.race_id, sighting)
    assert proof.ok, proof.checks
    assert (proof.record, proof.race, proof.game) == (VOID, VOID.race_id, "canfield")
    assert proof.sentence == (
        "mint-otter-42/1 was voided by the server, so it counts for nothing. What the server opened of "
        "it is verified: witnessed here."
    )
    assert failed(prove(text, "mint-otter-42/2", sighting)) == {"race"}
    assert failed(prove(text, VOID.race_id, seen("00" * 32))) == {"witness"}
