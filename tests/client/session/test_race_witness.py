"""What a client has seen of a table's races is saved, and alarms are told once."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.finished_races import finished_race
from kit.sightings import sighting_of
from saratoga_client.session.race_witness import GONE, TIMES_CHANGED, RaceWitness
from saratoga_client.session.witness import Sighting, Witness
from saratoga_protocol import events

SEEN = sighting_of(finished_race())
RUNNING = replace(SEEN, entries=(), standings=(), digest="")
TABLE = SEEN.race.partition("/")[0]

Alarms = list[tuple[str, tuple[str, ...]]]


@pytest.fixture
def alarms() -> Alarms:
    return []


@pytest.fixture
def races(tmp_path: Path, alarms: Alarms) -> RaceWitness:
    def alarm(race: str, sentences: tuple[str, ...]) -> None:
        alarms.append((race, sentences))

    witness = RaceWitness(Witness(tmp_path), lambda: SEEN.player, alarm)
    witness.see(RUNNING)
    return witness


def kept(folder: Path) -> Sighting:
    sighting = Witness(folder).load(SEEN.race)
    assert sighting is not None
    return sighting


def rows(banked: int) -> list[events.Standing]:
    return [events.Standing(player=SEEN.player, place=1, banked=banked, net=0, state="racing")]


def test_standings_are_saved_when_they_change(races: RaceWitness, tmp_path: Path) -> None:
    for banked in (3, 3, 4):
        races.see_standings(SEEN.race, rows(banked), 7)
    races.see_standings("mint-otter-42/99", rows(9), 7)
    assert [(each.banked, each.before) for each in kept(tmp_path).standings] == [(3, 7), (4, 7)]


def test_a_start_that_changes_raises_the_alarm_once_and_is_saved(
    races: RaceWitness, alarms: Alarms, tmp_path: Path
) -> None:
    races.see_start(SEEN.race, SEEN.start_at, SEEN.deadline)
    assert alarms == []
    for _ in range(2):
        races.see_start(SEEN.race, SEEN.start_at + 1, SEEN.deadline)
    assert alarms == [(SEEN.race, (TIMES_CHANGED,))]
    assert kept(tmp_path).alarms == [TIMES_CHANGED]


def test_a_race_is_unsettled_until_its_record_or_its_void_was_seen(
    races: RaceWitness, tmp_path: Path
) -> None:
    assert races.unsettled(TABLE) == [SEEN.race]
    stranger = RaceWitness(Witness(tmp_path), lambda: "someone else", lambda *_: None)
    assert stranger.unsettled(TABLE) == [], "another server may use the same race id"
    assert stranger.load(SEEN.race) is None
    races.raise_alarm(SEEN.race, (GONE,))
    races.settle(SEEN.race)
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
    races.see_standings(SEEN.race, rows(5), 1)
    seen = races.load(SEEN.race)
    assert seen is not None
    assert len(seen.standings) == 1
