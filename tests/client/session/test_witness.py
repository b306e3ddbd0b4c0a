"""What a client has seen of races is saved, and alarms are told once."""

import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.finished_races import finished_race
from kit.races import Entrant, race
from kit.sightings import announced, sighting_of, watcher_of
from kit.walks import banking
from saratoga_client.session import witness as witness_module
from saratoga_client.session.race_witness import (
    MOST_ALARMS,
    TOO_MANY,
    RaceWitness,
    local_now,
)
from saratoga_client.session.seen_board import MOST_SEEN
from saratoga_client.session.seen_standings import MOST_STANDINGS
from saratoga_client.session.testimony import compare_with_record
from saratoga_client.session.witness import (
    GONE,
    Sighting,
    Witness,
)
from saratoga_protocol import events
from saratoga_rules.records.record import RaceRecord, format_record


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


def test_only_the_owner_can_read_the_file(tmp_path: Path, record: RaceRecord) -> None:
    Witness(tmp_path).keep(sighting_of(record))
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


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


SEEN_OF_RACE_WITNESS = replace(sighting_of(finished_race()), seen_at=local_now())
RUNNING = replace(SEEN_OF_RACE_WITNESS, own=(), standings=(), outcome=None)
TABLE = SEEN_OF_RACE_WITNESS.race.partition("/")[0]

Alarms = list[tuple[str, tuple[str, ...]]]


@pytest.fixture
def alarms() -> Alarms:
    return []


@pytest.fixture
def races(tmp_path: Path, alarms: Alarms) -> RaceWitness:
    def alarm(race: str, sentences: tuple[str, ...]) -> None:
        alarms.append((race, sentences))

    witness = RaceWitness(Witness(tmp_path), lambda: SEEN_OF_RACE_WITNESS.player, alarm)
    witness.see(RUNNING)
    return witness


def kept(folder: Path) -> Sighting:
    sighting = Witness(folder).load(SEEN_OF_RACE_WITNESS.race)
    assert sighting is not None
    return sighting


def rows(banked: int) -> list[events.Standing]:
    return [
        events.Standing(
            player=SEEN_OF_RACE_WITNESS.player,
            place=1,
            banked=banked,
            net=0,
            state="racing",
            head="0" * 16,
        )
    ]


def test_a_server_that_contradicts_itself_all_the_time_fills_no_memory(
    races: RaceWitness, alarms: Alarms, tmp_path: Path
) -> None:
    for number in range(2 * MOST_ALARMS):
        races.raise_alarm(SEEN_OF_RACE_WITNESS.race, (f"it says {number}",))
    told = [sentence for _, sentences in alarms for sentence in sentences]
    assert told == [*(f"it says {number}" for number in range(MOST_ALARMS)), TOO_MANY]
    assert kept(tmp_path).alarms == told[:-1]


@pytest.mark.parametrize("durability", ["fast", "safe"])
def test_another_result_is_no_contradiction_if_the_server_may_lose_the_end_of_a_race(
    races: RaceWitness, alarms: Alarms, tmp_path: Path, durability: str
) -> None:
    second = announced(finished_race())
    races.see(replace(kept(tmp_path), durability=durability))
    for result in (replace(second, digest="00" * 32), second):
        races.see_outcome(kept(tmp_path), result)
    said = compare_with_record(kept(tmp_path), format_record(finished_race()))
    assert (not alarms, not said.disagreements) == (durability == "fast",) * 2


def test_a_race_is_unsettled_until_its_record_or_its_void_was_seen(
    races: RaceWitness, tmp_path: Path
) -> None:
    assert races.unsettled(TABLE) == [SEEN_OF_RACE_WITNESS.race]
    stranger = RaceWitness(Witness(tmp_path), lambda: "someone else", lambda *_: None)
    assert stranger.unsettled(TABLE) == [], "another server may use the same race id"
    assert stranger.load(SEEN_OF_RACE_WITNESS.race) is None
    races.raise_alarm(SEEN_OF_RACE_WITNESS.race, (GONE,))
    races.settle(SEEN_OF_RACE_WITNESS.race, "")
    assert (races.unsettled(TABLE), kept(tmp_path).alarms) == ([], [])
    races.save(replace(RUNNING, voided="damaged"))
    assert races.unsettled(TABLE) == []


def test_a_full_disk_is_no_error(
    races: RaceWitness, monkeypatch: pytest.MonkeyPatch, alarms: Alarms
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Witness, "keep", full)
    monkeypatch.setattr(Witness, "add", full)
    races.see_standings(SEEN_OF_RACE_WITNESS.race, rows(5), 1)
    seen = races.load(SEEN_OF_RACE_WITNESS.race)
    assert seen is not None
    assert len(seen.standings) == 1
