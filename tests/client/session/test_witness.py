"""What a client has seen of a race is kept in files, also over a restart, and never more than it should be."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from kit.evenings import HOST, ME, RACE, WATCHER, Client, Told, race_of
from kit.fact_lies import LIES
from saratoga_client.session import fairness
from saratoga_client.session import witness as module
from saratoga_client.session.verdict import prove
from saratoga_client.session.witness import RACED, UNSEEN, WATCHED, SeenRace, Witness

FIRST = "mint-otter-42/1"
PLAYER = "b" * 16


async def heard(told: Told, folder: Path) -> Client:
    return await Client(told, Witness(folder)).hear()


async def test_what_was_seen_is_kept_over_a_restart(
    evening: Mapping[str, Told], tmp_path: Path
) -> None:
    client = await heard(evening[ME], tmp_path)
    race = race_of(evening[ME], RACE)
    seen = client.witness.evidence(race)
    assert seen is not None
    assert seen.worth == RACED
    assert Witness(tmp_path).evidence(race) == seen


def modes_in(folder: Path) -> list[int]:
    return [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()]


def file_of(folder: Path, race: str) -> Path:
    (file,) = folder.glob(f"{race.replace('/', '.')}.*")
    return file


async def test_only_the_owner_can_read_the_files(
    evening: Mapping[str, Told], tmp_path: Path
) -> None:
    await heard(evening[ME], tmp_path)
    assert modes_in(tmp_path) == [0o600] * 3


async def test_a_watcher_on_the_machine_of_a_racer_takes_no_evidence_away(
    evening: Mapping[str, Told], tmp_path: Path
) -> None:
    race = race_of(evening[ME], RACE)
    for name in (ME, WATCHER):
        await heard(evening[name], tmp_path)
        for player, worth in ((evening[ME].player, RACED), (evening[WATCHER].player, WATCHED)):
            seen = Witness(tmp_path)
            seen.recall(race.partition("/")[0], player)
            assert (known := seen.races.get(race)) is None or known.worth == worth
    seen_best = Witness(tmp_path).evidence(race)
    assert seen_best is not None
    assert seen_best.worth == RACED


async def test_a_contradiction_is_said_by_verify_at_any_later_time(
    evening: Mapping[str, Told], tmp_path: Path
) -> None:
    told = LIES["a rival renamed"].edit(evening[ME])
    race = race_of(told, RACE)
    await heard(told, tmp_path)
    proof = prove(told.records[race].encode(), race, Witness(tmp_path).evidence(race))
    assert [finding.key[0] for finding in proof.findings] == ["racer"]
    assert proof.sentence == f"NOT VERIFIED: {race} fails 1 of 15 checks."


@pytest.mark.parametrize("cut", [b'\n["entry","1"', b"\n[]", b'\n["entry"]', b"\nnull", b"\n\xff"])
async def test_a_line_that_a_crash_has_cut_short_says_nothing(
    evening: Mapping[str, Told], tmp_path: Path, cut: bytes
) -> None:
    client = await heard(evening[ME], tmp_path)
    race = race_of(evening[ME], RACE)
    file = file_of(tmp_path, race)
    file.write_bytes(file.read_bytes() + cut + b'\n["board","99","later"]')
    seen, before = Witness(tmp_path).evidence(race), client.witness.evidence(race)
    assert seen is not None
    assert before is not None
    assert seen.facts == before.facts | {("board", race, before.player, "99"): "later"} or (
        seen.facts == before.facts | {("board", race, "99"): "later"}
    )


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'["saratoga facts 2","a","b","safe","1"]', b"\xff"]
)
def test_a_file_that_cannot_be_read_is_no_evidence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / f"mint-otter-42.1.{PLAYER}.facts").write_bytes(content)
    assert Witness(tmp_path).evidence(FIRST) is None


@pytest.mark.parametrize("race", ["../../etc/1", "*", "", "mint-otter-42/0"])
def test_ids_that_no_server_should_send_are_no_file_names(tmp_path: Path, race: str) -> None:
    seen = Witness(tmp_path / "seen").open(race, PLAYER, "safe")
    seen.add("start", "1 2")
    seen.save()
    assert Witness(tmp_path / "seen").evidence(race) is None
    assert list(tmp_path.rglob("*.facts")) == []


def test_the_oldest_files_are_deleted_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_OF_TABLE", 2)
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    for age, table in enumerate(
        ["mint-otter-42", "mint-otter-42", "mint-otter-42", "oak-lamp-11", "oak-lamp-11"]
    ):
        Witness(tmp_path).open(f"{table}/{age + 1}", PLAYER, "safe")
        for number, path in enumerate(
            sorted(tmp_path.iterdir(), key=lambda each: each.stat().st_mtime)
        ):
            os.utime(path, (age + number + 1, age + number + 1))
    names = sorted(path.name.partition(".b")[0] for path in tmp_path.iterdir())
    assert names == ["mint-otter-42.3", "oak-lamp-11.4", "oak-lamp-11.5"]


def test_a_full_disk_ends_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Witness(tmp_path).open(FIRST, PLAYER, "safe")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    seen.add("start", "1 2")
    seen.save()
    assert seen.facts == {("start", FIRST): "1 2"}


def test_a_race_seen_long_ago_is_neither_missed_nor_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Witness(tmp_path).open(FIRST, PLAYER, "safe")
    seen.add("listed", "ab" * 32, "countdown")
    seen.save()
    later = module.now() + module.MISSED_FOR + 1
    monkeypatch.setattr(module, "now", lambda: later)
    again = Witness(tmp_path)
    again.recall("mint-otter-42", PLAYER)
    assert again.races == {}
    assert not again.open(FIRST, PLAYER, "safe").is_listed


def test_a_race_without_a_record_is_the_last_to_be_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_RACES", 2)
    witness = Witness(in_memory=True)
    for number, note in ((1, "listed"), (2, "checked"), (3, "listed")):
        witness.open(f"mint-otter-42/{number}", PLAYER, "safe").add(note, "x")
    assert list(witness.races) == ["mint-otter-42/1", "mint-otter-42/3"]


async def test_a_server_cannot_fill_the_memory(
    evening: Mapping[str, Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fairness, "MAX_FACTS", 20)
    monkeypatch.setattr(fairness, "MAX_VALUE", 30)
    client = await Client(evening[ME]).hear()
    race = race_of(evening[ME], RACE)
    seen = client.duties.seen(race)
    assert seen is not None
    own = [key for key in seen.facts if key[1] == race]
    assert len(own) == 20
    assert max(map(len, seen.facts.values())) <= 30


def test_the_facts_of_a_race_that_a_server_lost_are_set_aside() -> None:
    seen = SeenRace(FIRST, PLAYER, "fast", 0)
    for line in (
        ["commitment", "aa"],
        ["listed", "aa", "countdown"],
        ["head", "p", "h", "1 2 racing"],
    ):
        seen.apply(line)
    seen.apply(["lost", "head"])
    assert list(seen.facts) == [("commitment", FIRST)]
    seen.apply(["lost", "all"])
    assert (seen.facts, seen.worth, seen.is_listed) == ({}, UNSEEN, True)
    seen.apply(["commitment", "aa"])
    seen.apply(["lost", "head"])
    assert list(seen.facts) == [("commitment", FIRST)], "what came after the loss is compared"


async def test_another_player_of_the_machine_has_facts_of_their_own(
    evening: Mapping[str, Told], tmp_path: Path
) -> None:
    for name in (ME, HOST):
        await heard(evening[name], tmp_path)
    assert len(modes_in(tmp_path)) == 6
