"""Records of races and best results are kept."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace as replaced

from kit.evenings import FakeConnection
from kit.positions import banking
from kit.races import Entrant, race
from kit.session_states import CODE, finished_race, over
from saratoga_client.session import record_store as module
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.history import PersonalBest, best_in
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import BESTS, RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.verdict import missing_sentence
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_rules.records.record import digest_of, format_record

ENTRANTS = [Entrant("ana", banking), Entrant("raj", banking)]
RECORD = race("canfield", 3, ENTRANTS)
TEXT = format_record(RECORD)
PLAYER = RECORD.results[0].player


@pytest.fixture
def kept(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "races")


def text_of(seed: int, name: str = "canfield") -> str:
    return format_record(race(name, seed, ENTRANTS))


def file_of(text: str, folder: Path) -> Path:
    """Return the file that holds a record."""
    return next(folder.rglob(f"*-{digest_of(text)[:8]}.record"))


def test_races_of_two_servers_with_one_id_are_kept_apart(kept: RecordStore, tmp_path: Path) -> None:
    other = format_record(replace(RECORD, cap=5))
    kept.keep(RECORD.race_id, TEXT)
    os.utime(file_of(TEXT, tmp_path), (1, 1))
    kept.keep(RECORD.race_id, other)
    assert kept.text(RECORD.race_id) == other
    assert kept.text(RECORD.race_id, digest_of(TEXT)) == TEXT
    assert kept.text(RECORD.race_id, "00" * 32) is None


@pytest.mark.parametrize("race_id", ["mint-otter-42/99", "../../etc/passwd", "*", ""])
def test_a_record_that_was_not_kept_is_not_found(kept: RecordStore, race_id: str) -> None:
    kept.keep(RECORD.race_id, TEXT)
    assert kept.text(race_id) is None


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", TEXT[: len(TEXT) // 2].encode()])
def test_a_damaged_record_is_ignored_and_can_be_kept_again(
    kept: RecordStore, tmp_path: Path, damage: bytes
) -> None:
    kept.keep(RECORD.race_id, TEXT)
    file_of(TEXT, tmp_path).write_bytes(damage)
    assert kept.text(RECORD.race_id) is None
    kept.keep(RECORD.race_id, TEXT)
    assert kept.text(RECORD.race_id) == TEXT


def test_the_oldest_record_is_deleted_first(
    kept: RecordStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 2)
    for age in range(3):
        kept.keep(f"mint-otter-42/{age + 1}", text_of(age))
        for path in tmp_path.rglob(f"*-{digest_of(text_of(age))[:8]}.record"):
            os.utime(path, (age + 1, age + 1))
    assert len(list(tmp_path.rglob("*.record"))) == 2
    assert kept.text("mint-otter-42/1") is None


def test_best_results_are_kept_by_player_and_game(kept: RecordStore, tmp_path: Path) -> None:
    best = best_in(RECORD, PLAYER)
    assert best is not None
    assert kept.best("canfield", PLAYER) is None
    assert kept.note(best, PLAYER)
    assert not kept.note(best, PLAYER)
    again = RecordStore(tmp_path / "races")
    assert again.best("canfield", PLAYER) == best
    assert again.best("caprice", PLAYER) is None
    assert again.best("canfield", "somebodyelseeeee") is None


@pytest.mark.parametrize("torn", [b"", b"{", b'{"a": 3}', b"\xff", b"[" * 100_000, b"null"])
def test_an_unreadable_file_of_best_results_is_replaced(
    kept: RecordStore, torn: bytes, tmp_path: Path
) -> None:
    folder = tmp_path / "races"
    folder.mkdir()
    (folder / BESTS).write_bytes(torn)
    assert kept.best("canfield", PLAYER) is None
    best = best_in(RECORD, PLAYER)
    assert best is not None
    assert kept.note(best, PLAYER)
    assert kept.best("canfield", PLAYER) == best


RECORD_OF_RECORD_KEEPER = finished_race()
TEXT_OF_RECORD_KEEPER = format_record(RECORD_OF_RECORD_KEEPER)
RACE = RECORD_OF_RECORD_KEEPER.race_id


class Keeping:
    """A record keeper after a race, with its stores."""

    def __init__(self, folder: Path) -> None:
        self.store = StateStore(lambda: 0)
        self.records = RecordStore(folder / "races")
        self.store.replace(over(RECORD_OF_RECORD_KEEPER, you="ana"))
        connection = cast(Any, FakeConnection(self.state.player))
        self.duties = FairnessDuties(connection, Witness(in_memory=True))
        self.keeper = RecordKeeper(connection, self.duties, self.records, self.store)

    @property
    def state(self) -> SessionState:
        assert self.store.state is not None
        return self.store.state

    async def keep(self, text: str = TEXT_OF_RECORD_KEEPER) -> None:
        await self.keeper.prove(RACE, text)

    @property
    def outcome(self) -> events.Outcome:
        assert self.state.table_view.outcome is not None
        return self.state.table_view.outcome


@pytest.fixture
def keeping(tmp_path: Path) -> Keeping:
    return Keeping(tmp_path)


async def test_a_finished_race_is_kept_and_checked_and_may_be_the_best(keeping: Keeping) -> None:
    former = PersonalBest(game="canfield", race=f"{CODE}/9", banked=0, net=-50, reached=1)
    keeping.records.note(former, keeping.state.player)
    await keeping.keep()
    assert keeping.records.text(RACE) == TEXT_OF_RECORD_KEEPER
    assert keeping.state.verifications[RACE].ok
    assert keeping.state.is_new_best
    assert keeping.state.best is not None
    assert keeping.state.best.race == RACE
    assert keeping.state.news == ()


async def test_the_alarm_about_a_missing_record_is_withdrawn_when_it_comes(
    keeping: Keeping,
) -> None:
    keeping.duties.alarm("The deal has changed.", missing_sentence(RACE))
    assert len(keeping.state.alarms) == 2
    assert [each.text for each in keeping.state.news] == list(keeping.state.alarms)
    await keeping.keep()
    assert list(keeping.state.alarms) == ["The deal has changed."]
    assert [each.text for each in keeping.state.news] == ["The deal has changed."]
    assert keeping.state.verifications[RACE].ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        TEXT_OF_RECORD_KEEPER[:-9],
        TEXT_OF_RECORD_KEEPER.replace("draw", "redeal", 1),
        "é",
    ],
)
async def test_the_verdict_on_a_bad_record_says_what_is_wrong(keeping: Keeping, text: str) -> None:
    await keeping.keep(text)
    found = keeping.state.verifications[RACE]
    assert not found.ok
    assert found.sentence.startswith("NOT VERIFIED: ")
    assert keeping.state.best is None


async def test_a_full_disk_is_reported_and_the_race_is_checked_all_the_same(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    await keeping.keep()
    assert [each.text for each in keeping.state.news] == [
        "the record was not saved on this machine: No space left on device"
    ]
    assert keeping.state.verifications[RACE].ok


def test_only_the_record_with_the_announced_digest_counts(keeping: Keeping) -> None:
    other = format_record(replace(RECORD_OF_RECORD_KEEPER, cap=5))
    keeping.records.keep(RACE, TEXT_OF_RECORD_KEEPER)
    keeping.records.keep(RACE, other)
    for text in (TEXT_OF_RECORD_KEEPER, other):
        outcome = replaced(keeping.outcome, digest=digest_of(text))
        picture = replace(keeping.state.table_view, outcome=outcome)
        keeping.store.replace(replace(keeping.state, table_view=picture))
        assert keeping.keeper.kept(RACE) == text
    assert keeping.keeper.kept(f"{CODE}/77") is None
