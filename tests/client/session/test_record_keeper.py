"""Records of a table's races: stored, verified, and searched for the player's best result."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replaced

from kit.finished_races import finished_race, over
from kit.session_states import CODE, START, table
from saratoga_client.session.personal_best import PersonalBest
from saratoga_client.session.record_check import CheckedRecord
from saratoga_client.session.record_keeper import MOST_VERIFICATIONS, RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.verification import prove
from saratoga_client.session.witness import WITHHELD, Sighting, Witness
from saratoga_protocol import events
from saratoga_rules.records.record import digest_of, format_record

RECORD = finished_race()
TEXT = format_record(RECORD)
RACE = RECORD.race_id


class Keeping:
    """A record keeper after a race, with its stores."""

    def __init__(self, folder: Path) -> None:
        self.store = StateStore()
        self.records = RecordStore(folder / "races")
        self.witness = Witness(folder / "witness")
        self.keeper = RecordKeeper(self.store, self.records)
        self.store.replace(over(RECORD, you="ana"))

    @property
    def state(self) -> SessionState:
        assert self.store.state is not None
        return self.store.state

    def keep(self, text: str = TEXT) -> None:
        proof = prove(text.encode("ascii", "replace"), RACE, witness=self.witness)
        self.keeper.keep(RACE, CheckedRecord(text, proof))

    @property
    def outcome(self) -> events.Outcome:
        assert self.state.table_view.outcome is not None
        return self.state.table_view.outcome


@pytest.fixture
def keeping(tmp_path: Path) -> Keeping:
    return Keeping(tmp_path)


def test_a_finished_race_is_kept_and_checked_and_may_be_the_best(keeping: Keeping) -> None:
    former = PersonalBest(
        game="canfield", race=f"{CODE}/9", start_at=START, banked=0, net=-50, reached=1
    )
    keeping.records.note(former, keeping.state.player)
    keeping.keep()
    assert keeping.records.text(RACE) == TEXT
    assert keeping.state.verifications[RACE].ok
    assert keeping.state.is_new_best
    assert keeping.state.best is not None
    assert keeping.state.best.race == RACE
    assert keeping.state.feed_lines == ()


def test_the_first_race_of_a_game_is_no_new_best(keeping: Keeping) -> None:
    keeping.keep()
    assert keeping.state.best is not None
    assert keeping.state.best.race == RACE
    assert not keeping.state.is_new_best


def test_a_missing_record_is_reported_once_and_is_not_verified(keeping: Keeping) -> None:
    for _ in range(2):
        keeping.keeper.missing(RACE)
    assert keeping.state.verifications[RACE] == Verification(
        False, f"NOT VERIFIED: the server did not send the record of {RACE}."
    )
    assert [line.text for line in keeping.state.feed_lines] == [
        f"the server did not send the record of race {RACE}; a review requests it again"
    ]


def test_the_alarm_about_a_missing_record_is_withdrawn_when_it_comes(keeping: Keeping) -> None:
    keeping.keeper.missing(RACE)
    keeping.keeper.raise_alarm(RACE, (WITHHELD, "the deal has changed"))
    keeping.keep()
    assert keeping.state.alarms == (f"Race {RACE}: the deal has changed.",)
    assert keeping.state.verifications[RACE].ok


@pytest.mark.parametrize("text", ["", "hello", TEXT[:-9], TEXT.replace("draw", "redeal", 1), "é"])
def test_the_verdict_on_a_bad_record_says_what_is_wrong(keeping: Keeping, text: str) -> None:
    keeping.keep(text)
    found = keeping.state.verifications[RACE]
    assert not found.ok
    assert found.sentence.startswith("NOT VERIFIED: ")
    assert keeping.state.best is None


def test_the_record_of_another_race_is_not_saved(keeping: Keeping) -> None:
    proof = prove(TEXT.encode(), "mint-otter-42/99", witness=keeping.witness)
    keeping.keeper.keep("mint-otter-42/99", CheckedRecord(TEXT, proof))
    assert not keeping.state.verifications["mint-otter-42/99"].ok
    assert keeping.records.text(RACE) is None


def test_the_verdict_says_that_the_record_is_not_of_the_race_seen(keeping: Keeping) -> None:
    other = Sighting(race=RACE, game="canfield", commitment="00" * 32, voided="damaged")
    keeping.witness.keep(other)
    keeping.keep()
    assert not keeping.state.verifications[RACE].ok
    assert keeping.records.text(RACE) == TEXT, "it shows what the house has said"
    assert keeping.state.best is None
    assert keeping.records.best("canfield", keeping.state.player) is None


def test_a_full_disk_is_reported_and_the_race_is_checked_all_the_same(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    keeping.keep()
    assert [line.text for line in keeping.state.feed_lines] == [
        "the record was not saved on this machine: No space left on device"
    ]
    assert keeping.state.verifications[RACE].ok


def test_a_best_result_of_another_game_is_shown_with_that_game(
    keeping: Keeping,
) -> None:
    gathering = table(phase="gathering", version=20, game="caprice", race=f"{CODE}/3")
    keeping.store.replace(
        next_state(keeping.state, events.TableChanged(table=gathering, now=START), START)
    )
    keeping.keep()
    assert keeping.state.best is None
    assert keeping.records.best("canfield", keeping.state.player) is not None
    again = gathering_of(keeping.state, "canfield")
    assert keeping.keeper.with_best(again).best is not None


def gathering_of(state: SessionState, game: str) -> SessionState:
    table = state.table
    shown = replaced(table, version=30, settings=replaced(table.settings, game=game))
    return next_state(state, events.TableChanged(table=shown, now=START), START)


def test_a_best_result_found_during_the_next_race_is_not_of_that_race(
    keeping: Keeping,
) -> None:
    gathering = table(phase="gathering", version=20, race=f"{CODE}/3")
    keeping.store.replace(
        next_state(keeping.state, events.TableChanged(table=gathering, now=START), START)
    )
    keeping.keep()
    assert keeping.state.best is not None
    assert not keeping.state.is_new_best


def test_only_the_record_with_the_announced_digest_counts(keeping: Keeping) -> None:
    other = format_record(replace(RECORD, cap=5))
    keeping.records.keep(TEXT)
    keeping.records.keep(other)
    for text in (TEXT, other):
        outcome = replaced(keeping.outcome, digest=digest_of(text))
        picture = replace(keeping.state.table_view, outcome=outcome)
        keeping.store.replace(replace(keeping.state, table_view=picture))
        assert keeping.keeper.kept(RACE) == text
    assert keeping.keeper.kept(f"{CODE}/77") is None


def test_alarms_are_collected_once_and_are_in_the_feed(keeping: Keeping) -> None:
    keeping.keeper.raise_alarm(RACE, ("the deal was changed", "the pack lacks a card"))
    keeping.keeper.raise_alarm(RACE, ("the seed is another", "the deal was changed"))
    assert keeping.state.alarms == (
        f"Race {RACE}: the deal was changed.",
        f"Race {RACE}: the pack lacks a card.",
        f"Race {RACE}: the seed is another.",
    )
    assert [line.text for line in keeping.state.feed_lines] == list(keeping.state.alarms)


def test_of_many_races_the_latest_verdicts_are_kept_in_their_order(keeping: Keeping) -> None:
    races = [f"{CODE}/{number}" for number in range(1, 3 * MOST_VERIFICATIONS)]
    for race in races:
        keeping.keeper.missing(race)
    assert [*keeping.state.verifications] == races[-MOST_VERIFICATIONS:]
    keeping.keeper.missing(races[-2])
    assert [*keeping.state.verifications][-1] == races[-2]
