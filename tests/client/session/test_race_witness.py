"""What a client has seen of a table's races is saved, and alarms are told once."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.finished_races import finished_race
from kit.sightings import announced, board_after, sighting_of
from saratoga_client.session import race_witness
from saratoga_client.session.race_witness import (
    MOST_ALARMS,
    MOST_SEEN_RACES,
    TIMES_CHANGED,
    TOO_MANY,
    RaceWitness,
    local_now,
)
from saratoga_client.session.seen_board import SeenBoard, SeenLoss, seen_board
from saratoga_client.session.testimony import compare_with_record
from saratoga_client.session.witness import GONE, Sighting, Witness
from saratoga_protocol import events
from saratoga_protocol.commands import MakeMove, NotReady
from saratoga_rules.records.record import format_record

SEEN = replace(sighting_of(finished_race()), seen_at=local_now())
RUNNING = replace(SEEN, own=(), standings=(), outcome=None)
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


def test_a_server_that_contradicts_itself_all_the_time_fills_no_memory(
    races: RaceWitness, alarms: Alarms, tmp_path: Path
) -> None:
    for number in range(2 * MOST_ALARMS):
        races.raise_alarm(SEEN.race, (f"it says {number}",))
    told = [sentence for _, sentences in alarms for sentence in sentences]
    assert told == [*(f"it says {number}" for number in range(MOST_ALARMS)), TOO_MANY]
    assert kept(tmp_path).alarms == told[:-1]


def test_standings_are_saved_when_they_change(races: RaceWitness, tmp_path: Path) -> None:
    for banked in (3, 3, 4):
        races.see_standings(SEEN.race, rows(banked), 7)
    races.see_standings("mint-otter-42/99", rows(9), 7)
    assert [(each.banked, each.before) for each in kept(tmp_path).standings] == [(3, 7), (4, 7)]


def test_every_board_that_the_server_shows_is_saved(races: RaceWitness, tmp_path: Path) -> None:
    record = finished_race()
    boards = [board_after(record, record.racers[0], place) for place in range(5)]
    races.see_deal(boards[0])
    move = MakeMove(id=3, race=SEEN.race, after=0, move="draw")
    races.see_answer(move, events.MoveMade(board=boards[1], at=1, number=1))
    no = events.Refused(re=4, code="illegal_move", message="", board=boards[2])
    races.see_answer(move, no)
    races.see_answer(NotReady(id=5, table="x"), no)
    races.see_reconnection(boards[3])
    races.see_ending(events.BoardEnded(board=boards[4], at=2, number=2))
    shown = [each for each in kept(tmp_path).own if isinstance(each, SeenBoard)]
    assert shown == [seen_board(board) for board in boards]
    assert races.load(SEEN.race) == kept(tmp_path)
    # a board that is shown again is not saved again, but every loss is
    for _ in range(2):
        races.see_reconnection(boards[0])
        races.see_answer(move, events.MoveMade(board=boards[1], at=1, number=1))
        races.see_answer(move, events.MoveMade(board=boards[2], at=1, number=7))
    seen = kept(tmp_path).own
    assert [each for each in seen if isinstance(each, SeenBoard)] == shown
    assert [each for each in seen if isinstance(each, SeenLoss)] == [SeenLoss(0)] * 2


def test_a_board_of_another_race_is_saved_with_the_race_of_the_command(
    races: RaceWitness, tmp_path: Path
) -> None:
    record = finished_race()
    board = replace(board_after(record, record.racers[0], 1), race="mint-otter-42/99")
    move = MakeMove(id=3, race=SEEN.race, after=0, move="draw")
    races.see_answer(move, events.MoveMade(board=board, at=1, number=1))
    assert kept(tmp_path).own[-1] == seen_board(board)


def test_what_is_answered_after_the_next_race_gathers_is_saved_with_its_race(
    races: RaceWitness, tmp_path: Path
) -> None:
    races.see(replace(RUNNING, race="mint-otter-42/99"))
    record = finished_race()
    races.see_ending(
        events.BoardEnded(board=board_after(record, record.racers[0], 2), at=2, number=2)
    )
    assert len(kept(tmp_path).own) == 1
    assert races.current is not None
    assert (races.current.race, races.current.own) == ("mint-otter-42/99", ())


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


@pytest.mark.parametrize("durability", ["fast", "safe"])
def test_another_result_after_a_loss_is_no_contradiction_if_the_server_may_lose_moves(
    races: RaceWitness, alarms: Alarms, tmp_path: Path, durability: str
) -> None:
    text = format_record(finished_race())
    second = announced(finished_race())
    first = replace(second, digest="00" * 32)
    races.see(replace(kept(tmp_path), durability=durability))
    races.see_outcome(kept(tmp_path), first)
    races.see_start(SEEN.race, SEEN.start_at, SEEN.deadline)
    races.see_outcome(kept(tmp_path), second)
    said = compare_with_record(kept(tmp_path), text)
    if durability == "fast":
        assert (alarms, said.disagreements) == ([], ())
        assert said.losses == "the server says that it lost 1 result that this machine saw"
    else:
        assert len(alarms) == len(said.disagreements) == 1


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
    races.settle(SEEN.race, "")
    assert (races.unsettled(TABLE), kept(tmp_path).alarms) == ([], [])
    races.save(replace(RUNNING, voided="damaged"))
    assert races.unsettled(TABLE) == []


def test_a_clock_that_is_set_forward_does_not_end_a_race(
    races: RaceWitness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    races.see(replace(RUNNING, seen_at=races.seen_now(SEEN.race)))
    tomorrow = local_now() + 24 * 3_600_000
    monkeypatch.setattr(race_witness, "local_now", lambda: tomorrow)
    assert races.may_run(SEEN.race)
    # a program that was started later knows no other clock
    restarted = RaceWitness(Witness(tmp_path), lambda: SEEN.player, lambda *_: None)
    assert not restarted.may_run(SEEN.race)


def test_only_the_times_of_the_latest_races_are_remembered(
    races: RaceWitness, monkeypatch: pytest.MonkeyPatch
) -> None:
    races.see(replace(RUNNING, seen_at=races.seen_now(SEEN.race)))
    for number in range(MOST_SEEN_RACES):
        assert races.may_run(SEEN.race)
        races.seen_now(f"{TABLE}/{1000 + number}")
    tomorrow = local_now() + 24 * 3_600_000
    monkeypatch.setattr(race_witness, "local_now", lambda: tomorrow)
    assert not races.may_run(SEEN.race), "the machine's clock alone counts"


def test_a_race_whose_record_is_of_a_void_is_noted_as_voided(
    races: RaceWitness, tmp_path: Path
) -> None:
    races.settle(SEEN.race, "damaged")
    races.settle(SEEN.race, "")
    assert (kept(tmp_path).voided, kept(tmp_path).has_record) == ("damaged", True)


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
