import dataclasses
import stat
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.races import Entrant, race
from kit.voided_races import ANNA, NONCE, void_record, voided_race
from kit.walks import banking
from saratoga_client.session import witness as witness_module
from saratoga_client.session.witness import (
    Sighting,
    Witness,
    compare_with_record,
    faults_of_voided,
)
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.position import format_position
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_rules.records.void_record import format_void_record
from saratoga_rules.records.void_replay import void_deal
from saratoga_rules.views import redact


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return race("canfield", 1, [Entrant("Anna", banking), Entrant("Bert", banking)])


def sighting_of(record: RaceRecord) -> Sighting:
    """Return the notes of a racer at an honest server."""
    return Sighting(
        race=record.race_id,
        game=record.game,
        commitment=record.commitment,
        player=record.racers[0].player,
        nonce=record.racers[0].nonce,
        nonce_hashes={racer.player: racer.nonce_hash for racer in record.racers},
        deal=format_position(redact(record.deal)),
        digest=digest_of(format_record(record)),
    )


def test_a_sighting_is_kept_over_a_restart(tmp_path: Path, record: RaceRecord) -> None:
    Witness(tmp_path / "seen").keep(sighting_of(record))
    assert Witness(tmp_path / "seen").load(record.race_id) == sighting_of(record)


def test_only_the_owner_can_read_the_file(tmp_path: Path, record: RaceRecord) -> None:
    Witness(tmp_path).keep(sighting_of(record))
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_race_never_seen_has_no_sighting(tmp_path: Path) -> None:
    assert Witness(tmp_path).load("mint-otter-42/1") is None


@pytest.mark.parametrize(
    "name",
    [
        "mint-otter-42/1\0",
        "mint-otter-42/../../1",
        "..\\..\\token",
        "c:mint-otter-42/1",
        "/etc/passwd",
        "con/1",
        "mint-otter-42/1\n",
        "x" * 300,
        "",
    ],
)
def test_an_invalid_race_id_is_not_kept(tmp_path: Path, record: RaceRecord, name: str) -> None:
    folder = tmp_path / "a" / "seen"
    folder.mkdir(parents=True)
    Witness(folder).keep(replace(sighting_of(record), race=name))
    assert Witness(folder).load(name) is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_damaged_file_counts_as_missing(tmp_path: Path, record: RaceRecord) -> None:
    witness = Witness(tmp_path)
    witness.keep(sighting_of(record))
    (file,) = tmp_path.iterdir()
    file.write_bytes(b'{"race": "\xff')
    assert witness.load(record.race_id) is None


def test_the_oldest_sighting_is_deleted_first(
    tmp_path: Path, record: RaceRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness_module, "MAX_KEPT", 3)
    for number in range(1, 6):
        Witness(tmp_path).keep(replace(sighting_of(record), race=f"mint-otter-42/{number}"))
    assert len(list(tmp_path.iterdir())) == 3


def test_the_record_of_a_race_seen_here_is_witnessed(record: RaceRecord) -> None:
    said = compare_with_record(sighting_of(record), format_record(record))
    assert said.disagreements == ()
    assert said.seen == ("commitment", "nonces", "deal", "digest")
    assert said.verdict == "witnessed here"


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
        ({"digest": "00" * 32}, "digest is not the one"),
        ({"nonce_hashes": {"zz": "00" * 32}}, "was in the countdown, but is not in the record"),
        ({"nonce_hashes": {"zz": "00" * 32}}, "is in the record, but was not in the countdown"),
    ],
)
def test_a_record_that_differs_from_the_sighting_disagrees(
    record: RaceRecord, change: dict[str, str], sentence: str
) -> None:
    sighting = replace(sighting_of(record), **change)
    said = compare_with_record(sighting, format_record(record))
    assert any(sentence in disagreement for disagreement in said.disagreements)
    assert said.verdict == "not the race seen here"


def test_a_player_who_was_ready_and_did_not_race_is_no_disagreement(record: RaceRecord) -> None:
    sighting = replace(sighting_of(record), player="zz", nonce="00" * 16, deal="")
    said = compare_with_record(sighting, format_record(record))
    assert said.disagreements == ()
    assert said.verdict == "witnessed here"


def test_a_nonce_that_does_not_match_its_hash_disagrees(record: RaceRecord) -> None:
    hashes = {racer.player: racer.nonce_hash for racer in record.racers}
    liar = record.racers[1].player
    sighting = replace(sighting_of(record), nonce_hashes={**hashes, liar: "00" * 32})
    (disagreement,) = compare_with_record(sighting, format_record(record)).disagreements
    assert disagreement.startswith(f"the nonce of {liar} does not match")


# Voided races

SEEN = Sighting(
    race="mint-otter-42/1",
    game="canfield",
    commitment=voided_race().commitment,
    nonce_hashes={ANNA: nonce_hash(bytes.fromhex(NONCE))},
)


def test_a_voided_race_that_keeps_what_was_promised_has_no_fault() -> None:
    assert list(faults_of_voided(voided_race(), SEEN)) == []
    assert list(faults_of_voided(voided_race(), None)) == []
    unread = replace(voided_race(), seed="", nonces={})
    assert list(faults_of_voided(unread, SEEN)) == [], "what is missing is no contradiction"
    assert list(faults_of_voided(replace(unread, commitment=""), SEEN)) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"seed": "00" * 32}, "the seed of the voided race does not match its commitment"),
        ({"commitment": "00" * 32, "seed": ""}, "is not the one announced before the race"),
        ({"nonces": {ANNA: "00" * 16}}, "does not match the hash from the countdown"),
        ({"nonces": {ANNA: "short"}}, "does not match the hash from the countdown"),
    ],
)
def test_a_voided_race_that_contradicts_what_was_seen_has_a_fault(
    changed: dict[str, Any], fault: str
) -> None:
    (found,) = faults_of_voided(replace(voided_race(), **changed), SEEN)
    assert fault in found


def test_the_record_of_a_voided_race_is_compared_with_what_was_seen() -> None:
    text = format_void_record(void_record())
    testimony = compare_with_record(SEEN, text)
    assert (testimony.seen, testimony.disagreements) == (("commitment", "nonces"), ())
    assert testimony.verdict == "witnessed here"
    other = replace(SEEN, commitment="00" * 32, nonce_hashes={ANNA: "00" * 32})
    assert len(compare_with_record(other, text).disagreements) == 2


def test_a_nonce_that_the_server_could_not_read_is_no_contradiction() -> None:
    racer = dataclasses.replace(void_record().racers[0], nonce="")
    text = format_void_record(dataclasses.replace(void_record(), racers=(racer,)))
    assert compare_with_record(SEEN, text).disagreements == ()


def test_a_commitment_that_the_server_could_not_read_is_no_contradiction() -> None:
    unread = dataclasses.replace(void_record(), commitment="", seed="")
    testimony = compare_with_record(SEEN, format_void_record(unread))
    assert (testimony.seen, testimony.disagreements) == (("nonces",), ())


@pytest.mark.parametrize("race", ["x", "mint-otter-42/x", "mint-otter-42/\u00b2", ""])
def test_a_voided_race_without_a_valid_id_is_a_fault_and_does_not_raise(race: str) -> None:
    (fault,) = faults_of_voided(replace(voided_race(), race=race), None)
    assert fault == "the voided race has no valid id"


def test_the_deal_of_a_voided_race_is_compared_with_the_deal_seen() -> None:
    deal = void_deal(void_record())
    assert deal is not None
    dealt = replace(SEEN, deal=format_position(redact(deal)))
    text = format_void_record(void_record())
    assert compare_with_record(dealt, text).seen == ("commitment", "nonces", "deal")
    assert compare_with_record(dealt, text).disagreements == ()
    (fault,) = compare_with_record(replace(SEEN, deal="another"), text).disagreements
    assert "is not the one that this player was dealt" in fault
