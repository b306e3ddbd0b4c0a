"""A record is compared with what this machine saw of its race."""

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from kit.races import ANNA, NONCE, Entrant, race, void_record, voided_race
from kit.sightings import announced, sighting_of, watcher_of
from kit.walks import banking, wandering
from saratoga_client.session.announced_result import RESULT_AND_VOID
from saratoga_client.session.seen_board import SeenBoard, SeenEntry
from saratoga_client.session.testimony import VOID_AND_RESULT, compare_with_record
from saratoga_client.session.witness import NONCE_DENIED, NOT_STARTED, REVEAL_UNANSWERED, Sighting
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.position import format_position
from saratoga_rules.records.record import RaceRecord, format_record
from saratoga_rules.records.void_record import format_void_record
from saratoga_rules.records.void_replay import void_deal
from saratoga_rules.records.voided import NONCE_MISSING
from saratoga_rules.views import redact

ANNAS_ID = "4x6e6e6x4x6e6e6x"


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


def test_the_record_of_a_race_never_seen_is_only_self_consistent(record: RaceRecord) -> None:
    assert compare_with_record(None, format_record(record)).verdict == "self-consistent only"


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
        ({"public": False}, "the table was private, and in the record is public"),
        ({"cap": 5}, "the time limit was 5 minutes, and in the record is 10"),
        ({"start_at": 1}, "the race started at 1, and in the record at 1788278400001"),
        ({"ranked": False}, "the race was unranked when it started, and in the record is ranked"),
        ({"deadline": 0}, "the deadline was 0, and by the record it was"),
        ({"names": {ANNAS_ID: ["Ana"]}}, "raced as Ana, and in the record is Anna"),
        ({"bots": [ANNAS_ID]}, "raced as a bot, and in the record is a person"),
        ({"own": (SeenEntry(1, 0, 1, "draw"),)}, "this player's entry 1 was draw at 0 ms"),
        ({"own": (SeenBoard(1, "00"),)}, "was shown after entry 1 is not that of the record"),
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


def test_a_result_of_a_race_that_was_voided_disagrees(record: RaceRecord) -> None:
    told = replace(SEEN, outcome=announced(record))
    said = compare_with_record(told, format_void_record(void_record()))
    assert said.disagreements == (RESULT_AND_VOID,)


@pytest.mark.parametrize("durability", ["fast", "safe"])
def test_a_result_after_a_void_disagrees_unless_the_server_may_lose_data(
    record: RaceRecord, durability: str
) -> None:
    told = replace(sighting_of(record), voided="damaged", durability=durability)
    said = compare_with_record(told, format_record(record))
    assert said.disagreements == (() if durability == "fast" else (VOID_AND_RESULT,))


def test_a_void_for_another_reason_than_was_announced_disagrees() -> None:
    text = format_void_record(void_record())
    assert compare_with_record(replace(SEEN, voided=void_record().reason), text).disagreements == ()
    (fault,) = compare_with_record(replace(SEEN, voided="closed"), text).disagreements
    assert fault == "the reason for the void was closed, and in the record is damaged"


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


SEEN = Sighting(
    race="mint-otter-42/1",
    game="canfield",
    commitment=voided_race().commitment,
    player=ANNA,
    nonce=NONCE,
    nonce_hashes={ANNA: nonce_hash(bytes.fromhex(NONCE))},
)


def test_the_record_of_a_voided_race_is_compared_with_what_was_seen() -> None:
    text = format_void_record(void_record())
    testimony = compare_with_record(SEEN, text)
    assert (testimony.seen, testimony.disagreements) == (("commitment", "nonces"), ())
    assert testimony.verdict == "witnessed here"
    other = replace(SEEN, commitment="00" * 32, nonce_hashes={ANNA: "00" * 32})
    assert len(compare_with_record(other, text).disagreements) == 2


def test_a_racer_whose_nonce_another_device_drew_has_witnessed_nothing() -> None:
    testimony = compare_with_record(replace(SEEN, nonce=""), format_void_record(void_record()))
    assert (testimony.disagreements, testimony.verdict) == ((), "self-consistent only")


def test_a_nonce_that_the_server_could_not_read_is_no_contradiction() -> None:
    racer = dataclasses.replace(void_record().racers[0], nonce="")
    text = format_void_record(dataclasses.replace(void_record(), racers=(racer,)))
    assert compare_with_record(SEEN, text).disagreements == ()


def test_a_commitment_that_the_server_could_not_read_is_no_contradiction() -> None:
    unread = dataclasses.replace(void_record(), commitment="", seed="")
    testimony = compare_with_record(SEEN, format_void_record(unread))
    assert (testimony.seen, testimony.disagreements) == (("nonces",), ())


def test_the_deal_of_a_voided_race_is_compared_with_the_deal_seen() -> None:
    deal = void_deal(void_record())
    assert deal is not None
    dealt = replace(SEEN, deal=format_position(redact(deal)))
    text = format_void_record(void_record())
    raced = replace(dealt, names={ANNA: ["Anna"]}, cap=10, start_at=void_record().start_at)
    (fault,) = compare_with_record(raced, text).disagreements
    assert fault.startswith("the deadline was 0")
    assert compare_with_record(dealt, text).seen == ("commitment", "nonces", "deal")
    assert compare_with_record(dealt, text).disagreements == ()
    (fault,) = compare_with_record(replace(SEEN, deal="another"), text).disagreements
    assert "is not the one that this player was dealt" in fault


def test_a_nonce_that_the_server_had_confirmed_cannot_be_missing() -> None:
    voided = dataclasses.replace(
        void_record(),
        reason=NONCE_MISSING,
        racers=(
            dataclasses.replace(
                void_record().racers[0],
                nonce="",
                missing=SEEN.nonce_hashes[ANNA],
                log=(),
            ),
        ),
    )
    text = format_void_record(voided)
    assert compare_with_record(SEEN, text).disagreements == ()
    said = compare_with_record(replace(SEEN, revealed=True), text)
    assert said.disagreements == (NONCE_DENIED,)
    said = compare_with_record(replace(SEEN, unanswered=True), text)
    assert said.disagreements == (REVEAL_UNANSWERED,)
    lost = replace(SEEN, revealed=True, durability="fast")
    assert compare_with_record(lost, text).disagreements == ()
    watched = replace(SEEN, start_at=voided.start_at, deadline=voided.start_at + 600_000)
    assert compare_with_record(watched, text).disagreements == (NOT_STARTED,)
