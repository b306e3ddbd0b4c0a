import stat
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.races import ANNA, NONCE, Entrant, race, voided_race
from kit.sightings import sighting_of, watcher_of
from kit.walks import banking
from saratoga_client.session import witness as witness_module
from saratoga_client.session.seen_board import MOST_SEEN
from saratoga_client.session.seen_standings import MOST_STANDINGS
from saratoga_client.session.witness import (
    NOT_STARTED,
    MemoryWitness,
    Sighting,
    Witness,
    faults_of_voided,
)
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.record import RaceRecord


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return race("canfield", 1, [Entrant("Anna", banking), Entrant("Bert", banking)])


def test_a_sighting_is_kept_over_a_restart(tmp_path: Path, record: RaceRecord) -> None:
    Witness(tmp_path / "seen").keep(sighting_of(record))
    assert Witness(tmp_path / "seen").load(record.race_id) == sighting_of(record)


def test_a_watcher_on_the_machine_of_a_racer_takes_no_evidence_away(
    tmp_path: Path, record: RaceRecord
) -> None:
    witness, racer = Witness(tmp_path), sighting_of(record)
    watcher = replace(watcher_of(record), player="w" * 16)
    for order in ((racer, watcher), (watcher, racer)):
        for sighting in order:
            witness.keep(sighting)
        assert witness.load(record.race_id) == racer, "the own race is worth more"
        assert witness.load(record.race_id, watcher.player) == watcher
    assert len(witness.of_table(record.table)) == 2


def test_of_two_servers_races_with_one_id_the_latest_is_meant(
    tmp_path: Path, record: RaceRecord
) -> None:
    witness, racer = Witness(tmp_path), sighting_of(record)
    elsewhere = replace(watcher_of(record), player="w" * 16, commitment="0" * 64)
    witness.keep(racer)
    witness.keep(elsewhere)
    assert witness.load(record.race_id) == elsewhere


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


def test_many_races_of_a_table_delete_none_of_other_tables(
    tmp_path: Path, record: RaceRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness_module, "MAX_KEPT_OF_TABLE", 2)
    monkeypatch.setattr(witness_module, "MAX_KEPT", 4)
    for raced in ("maple-crane-10/1", *(f"mint-otter-42/{number}" for number in range(1, 9))):
        Witness(tmp_path).keep(replace(sighting_of(record), race=raced))
    assert Witness(tmp_path).load("maple-crane-10/1") is not None
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_added_during_the_race_is_kept_over_a_crash(
    tmp_path: Path, record: RaceRecord
) -> None:
    whole = sighting_of(record)
    known = replace(whole, own=whole.own[:2], standings=())
    witness = Witness(tmp_path)
    witness.keep(known)
    known = known.with_seen(*whole.own[2:4])
    witness.add(known, *whole.own[2:4])
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes() + b'\n["entry",4,99')  # the program was killed here
    again = Witness(tmp_path)
    assert again.load(record.race_id) == known
    more = known.with_seen(whole.own[4], whole.standings[0])
    again.add(more, whole.own[4], whole.standings[0])
    assert Witness(tmp_path).load(record.race_id) == more


def test_a_file_that_is_gone_is_written_again_with_all_that_was_seen(
    tmp_path: Path, record: RaceRecord
) -> None:
    Witness(tmp_path).add(sighting_of(record), sighting_of(record).entries[-1])
    assert Witness(tmp_path).load(record.race_id) == sighting_of(record)


def test_a_hostile_server_cannot_fill_the_disk(record: RaceRecord) -> None:
    sighting = sighting_of(record)
    shown = [sighting.own[0]] * (MOST_SEEN + 1)
    standings = [sighting.standings[0]] * (MOST_STANDINGS + 2)
    full = sighting.with_seen(*shown, *standings)
    assert (len(full.own), len(full.standings)) == (MOST_SEEN, MOST_STANDINGS)


def test_only_a_sighting_from_before_the_deal_makes_a_witness(record: RaceRecord) -> None:
    racer, watcher = sighting_of(record), watcher_of(record)
    assert (racer.worth, watcher.worth) == ("witnessed here", "watched here")
    assert replace(racer, nonce_hashes={}).worth == "self-consistent only"
    assert replace(watcher, nonce_hashes={}).worth == "self-consistent only"
    assert replace(watcher, outcome=None).worth == "self-consistent only", "the end was not watched"


def test_a_witness_in_memory_forgets_the_oldest_race(
    record: RaceRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness_module, "MAX_REMEMBERED", 2)
    witness = MemoryWitness()
    for number in (1, 2, 3):
        sighting = replace(sighting_of(record), race=f"mint-otter-42/{number}", own=())
        witness.keep(sighting)
        witness.add(sighting.with_seen(sighting_of(record).entries[0]))
    assert witness.load("mint-otter-42/1") is None
    kept = witness.load("mint-otter-42/3")
    assert kept is not None
    assert len(kept.entries) == 1


def test_a_witness_in_memory_forgets_a_race_without_a_record_last(
    record: RaceRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness_module, "MAX_REMEMBERED", 2)
    witness = MemoryWitness()
    for number in (1, 2, 3):
        race = f"mint-otter-42/{number}"
        witness.keep(replace(sighting_of(record), race=race, has_record=number > 1))
    assert witness.load("mint-otter-42/1") is not None
    assert witness.load("mint-otter-42/2") is None


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
        ({"reason": "server-away"}, "but every nonce was revealed"),
        ({"reason": "racer-left"}, "none of its racers is named"),
    ],
)
def test_a_voided_race_that_contradicts_what_was_seen_has_a_fault(
    changed: dict[str, Any], fault: str
) -> None:
    (found,) = faults_of_voided(replace(voided_race(), **changed), SEEN)
    assert fault in found


COUNTDOWN = replace(
    voided_race(), reason="nonce-missing", nonces={}, missing=SEEN.nonce_hashes, logs=0
)


@pytest.mark.parametrize("seen", [{"start_at": 1_790_000_000_000}, {"deal": "a deal"}])
def test_a_race_that_had_started_was_no_countdown(seen: dict[str, Any]) -> None:
    assert list(faults_of_voided(COUNTDOWN, SEEN)) == []
    started = replace(SEEN, **seen)
    assert list(faults_of_voided(COUNTDOWN, started)) == [NOT_STARTED]
    assert list(faults_of_voided(COUNTDOWN, replace(started, durability="fast"))) == []


@pytest.mark.parametrize("race", ["x", "mint-otter-42/x", "mint-otter-42/\u00b2", ""])
def test_a_voided_race_without_a_valid_id_is_a_fault_and_does_not_raise(race: str) -> None:
    (fault,) = faults_of_voided(replace(voided_race(), race=race), None)
    assert fault == "the voided race has no valid id"
