"""Records of a table's races: kept, checked, and searched for a best of one's own."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replaced

from kit.evenings import CODE, START, table
from kit.finished import finished_race, over
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import Sighting, Witness
from saratoga_protocol import events
from saratoga_rules.records.record import digest_of, format_record

RECORD = finished_race()
TEXT = format_record(RECORD)
RACE = RECORD.race_id
GIVEN = events.Record(race=RACE, text=TEXT)


class Office:
    """A registrar at work after a race."""

    def __init__(self, folder: Path) -> None:
        self.desk = StateStore()
        self.keepsakes = RecordStore(folder / "races")
        self.witness = Witness(folder / "witness")
        self.registrar = RecordKeeper(self.desk, self.keepsakes, self.witness)
        self.desk.replace(over(RECORD, you="ana"))

    @property
    def evening(self) -> SessionState:
        assert self.desk.state is not None
        return self.desk.state

    @property
    def outcome(self) -> events.Outcome:
        assert self.evening.table_view.outcome is not None
        return self.evening.table_view.outcome


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


async def test_a_finished_race_is_kept_checked_and_ones_best(office: Office) -> None:
    await office.registrar.race_over(office.outcome, GIVEN)
    assert office.keepsakes.text(RACE) == TEXT
    assert office.evening.verifications[RACE].ok
    assert office.evening.is_new_best
    assert office.evening.best is not None
    assert office.evening.best.race == RACE
    assert office.evening.feed_lines == ()


async def test_a_race_is_taken_in_once(office: Office) -> None:
    await office.registrar.race_over(office.outcome, GIVEN)
    before = office.evening
    await office.registrar.race_over(office.outcome, GIVEN)
    assert office.evening is before


async def test_a_missing_record_is_reported_once(office: Office) -> None:
    for other in (None, events.Record(race=f"{CODE}/9", text="")):
        await office.registrar.race_over(office.outcome, other)
    assert [line.text for line in office.evening.feed_lines] == [
        f"the server did not send the record of race {RACE}; a review asks again"
    ]
    await office.registrar.race_over(office.outcome, GIVEN)
    assert office.evening.verifications[RACE].ok


@pytest.mark.parametrize("text", ["", "hello", TEXT[:-9], TEXT.replace("draw", "redeal", 1), "é"])
async def test_a_record_that_does_not_hold_is_said_to(office: Office, text: str) -> None:
    await office.registrar.race_over(office.outcome, events.Record(race=RACE, text=text))
    found = office.evening.verifications[RACE]
    assert not found.ok
    assert found.sentence.startswith("NOT VERIFIED: ")
    assert office.evening.best is None


async def test_a_record_of_another_race_than_was_seen_is_said_to_be(office: Office) -> None:
    office.witness.keep(Sighting(race=RACE, game="canfield", commitment="00" * 32))
    await office.registrar.race_over(office.outcome, GIVEN)
    assert not office.evening.verifications[RACE].ok
    assert office.keepsakes.text(RACE) == TEXT, "it shows what the house has said"
    assert office.evening.best is None
    assert office.keepsakes.best("canfield", office.evening.player) is None


async def test_a_full_disk_is_told_and_the_race_is_checked_all_the_same(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    await office.registrar.race_over(office.outcome, GIVEN)
    assert [line.text for line in office.evening.feed_lines] == [
        "the record was not saved on this machine: No space left on device"
    ]
    assert office.evening.verifications[RACE].ok


async def test_a_best_of_another_game_than_is_played_now_waits_for_its_game(
    office: Office,
) -> None:
    gathering = table(phase="gathering", version=20, game="caprice", race=f"{CODE}/3")
    office.desk.replace(
        next_state(office.evening, events.TableChanged(table=gathering, now=START), START)
    )
    await office.registrar.keep_and_check(RACE, TEXT)
    assert office.evening.best is None
    assert office.keepsakes.best("canfield", office.evening.player) is not None
    again = gathering_of(office.evening, "canfield")
    assert office.registrar.with_best(again).best is not None


def gathering_of(evening: SessionState, game: str) -> SessionState:
    table = evening.table
    shown = replaced(table, version=30, settings=replaced(table.settings, game=game))
    return next_state(evening, events.TableChanged(table=shown, now=START), START)


async def test_a_best_found_after_the_next_race_was_called_is_not_of_this_race(
    office: Office,
) -> None:
    gathering = table(phase="gathering", version=20, race=f"{CODE}/3")
    office.desk.replace(
        next_state(office.evening, events.TableChanged(table=gathering, now=START), START)
    )
    await office.registrar.keep_and_check(RACE, TEXT)
    assert office.evening.best is not None
    assert not office.evening.is_new_best


def test_the_kept_record_is_that_of_this_house(office: Office) -> None:
    other = format_record(replace(RECORD, cap=5))
    office.keepsakes.keep(TEXT)
    office.keepsakes.keep(other)
    for text in (TEXT, other):
        outcome = replaced(office.outcome, digest=digest_of(text))
        picture = replace(office.evening.table_view, outcome=outcome)
        office.desk.replace(replace(office.evening, table_view=picture))
        assert office.registrar.kept(RACE) == text
    assert office.registrar.kept(f"{CODE}/77") is None


def test_alarms_are_gathered_and_command_no_terminal(office: Office) -> None:
    office.registrar.raise_alarm(RACE, ("the deal was changed", "\x1b[2J"))
    office.registrar.raise_alarm(RACE, ("the seed is another",))
    assert office.evening.alarms == (
        f"Race {RACE}: the deal was changed.",
        f"Race {RACE}: <U+001B>[2J.",
        f"Race {RACE}: the seed is another.",
    )
