"""The records and best results kept on this machine."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_client.session import record_store as module
from saratoga_client.session.personal_best import best_in
from saratoga_client.session.record_store import BESTS, RecordStore
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


def test_a_kept_record_is_found_again_byte_for_byte(kept: RecordStore) -> None:
    path = kept.keep(TEXT)
    assert path is not None
    assert kept.text(RECORD.race_id) == TEXT
    assert kept.keep(TEXT) == path


def test_races_of_two_servers_with_one_id_are_kept_apart(kept: RecordStore) -> None:
    other = format_record(replace(RECORD, cap=5))
    first, second = kept.keep(TEXT), kept.keep(other)
    assert first is not None
    assert second is not None
    os.utime(first, (1, 1))
    assert kept.text(RECORD.race_id) == other
    assert kept.text(RECORD.race_id, digest_of(TEXT)) == TEXT
    assert kept.text(RECORD.race_id, "00" * 32) is None


@pytest.mark.parametrize("race_id", ["mint-otter-42/99", "../../etc/passwd", "*", ""])
def test_a_record_that_was_not_kept_is_not_found(kept: RecordStore, race_id: str) -> None:
    kept.keep(TEXT)
    assert kept.text(race_id) is None


def test_a_text_that_is_no_record_is_not_kept(kept: RecordStore, tmp_path: Path) -> None:
    assert kept.keep("hello") is None
    assert kept.keep(TEXT[:-20]) is None
    assert list(tmp_path.rglob("*.record")) == []


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", TEXT[: len(TEXT) // 2].encode()])
def test_a_damaged_record_is_ignored_and_can_be_kept_again(
    kept: RecordStore, damage: bytes
) -> None:
    path = kept.keep(TEXT)
    assert path is not None
    path.write_bytes(damage)
    assert kept.text(RECORD.race_id) is None
    kept.keep(TEXT)
    assert kept.text(RECORD.race_id) == TEXT


def test_a_record_under_the_name_of_another_race_is_ignored(kept: RecordStore) -> None:
    path = kept.keep(TEXT)
    assert path is not None
    path.write_text(text_of(4))
    assert kept.text(RECORD.race_id) is None


def test_the_oldest_record_is_deleted_first(
    kept: RecordStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 2)
    for age in range(3):
        path = kept.keep(text_of(age))
        assert path is not None
        if path.exists():
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


def test_a_better_result_replaces_the_best(kept: RecordStore) -> None:
    best = best_in(RECORD, PLAYER)
    assert best is not None
    kept.note(best, PLAYER)
    better = replace(best, banked=best.banked + 1)
    assert kept.note(better, PLAYER)
    assert not kept.note(best, PLAYER)
    assert kept.best("canfield", PLAYER) == better


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


def test_a_failed_write_leaves_the_former_best_result(
    kept: RecordStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = best_in(RECORD, PLAYER)
    assert best is not None
    kept.note(best, PLAYER)
    before = (tmp_path / "races" / BESTS).read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        kept.note(replace(best, banked=52), PLAYER)
    assert [path.name for path in (tmp_path / "races").iterdir()] == [BESTS]
    assert (tmp_path / "races" / BESTS).read_bytes() == before


def test_an_empty_folder_has_no_records_and_no_best_results(tmp_path: Path) -> None:
    empty = RecordStore(tmp_path / "nowhere")
    assert empty.text("mint-otter-42/1") is None
    assert empty.best("canfield", PLAYER) is None
    assert not (tmp_path / "nowhere").exists()
