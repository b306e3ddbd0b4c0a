"""Records of voided races as text: one form only, and whether they keep what was promised."""

from dataclasses import replace

import pytest

from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import LogLine, digest_of
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import (
    VoidedLog,
    VoidRecord,
    format_void_record,
    is_void_record,
    parse_void_record,
)

SEED = "5eed" * 16
ANNA = VoidedLog(
    player="annaannaannaanna",
    name="Anna",
    bot=False,
    nonce="0a" * 16,
    log=(LogLine(502, 1, "draw"), LogLine(1132, 3, "cash-out")),
    complete=True,
)
ZOE = VoidedLog(
    player="zoezoezoezoezoez",
    name="Zo\u00eb",
    bot=True,
    nonce="0b" * 16,
    log=(LogLine(895, 2, "draw"),),
    complete=False,
)
RECORD = VoidRecord(
    game="canfield",
    rules_version=1,
    table="mint-otter-42",
    race=2,
    start_at=1788278400000,
    cap=10,
    public=True,
    reason="damaged",
    commitment=commitment(
        bytes.fromhex(SEED), "canfield", 1, "mint-otter-42", 2, cap=10, public=True
    ),
    seed=SEED,
    racers=(ANNA, ZOE),
)


LEFT = replace(
    RECORD,
    reason="racer-left",
    racers=tuple(replace(racer, log=(), complete=False) for racer in RECORD.racers),
    left=ANNA.player,
)


@pytest.mark.parametrize(
    "record",
    [RECORD, LEFT, replace(RECORD, seed="", commitment="", racers=(replace(ANNA, nonce=""),))],
)
def test_a_void_record_written_and_read_is_the_same_record(record: VoidRecord) -> None:
    text = format_void_record(record)
    assert is_void_record(text)
    assert parse_void_record(text) == record


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("draw", "dr4w"),
        ("void record 1", "void record 2"),
        ("reason damaged", "reason tired"),
        ("log damaged", "log lost"),
        ("race mint-otter-42/2", "race mint-otter-42/02"),
        ("racer zoezoez", "racer aaaaaaa"),
    ],
)
def test_any_other_text_is_refused(old: str, new: str) -> None:
    with pytest.raises(RecordError):
        parse_void_record(format_void_record(RECORD).replace(old, new))


@pytest.mark.parametrize(
    "record", [replace(LEFT, left=""), replace(LEFT, left="x"), replace(RECORD, left=ANNA.player)]
)
def test_the_racer_who_left_stands_there_with_that_reason_only(record: VoidRecord) -> None:
    with pytest.raises(RecordError):
        parse_void_record(format_void_record(record))


def test_the_line_for_the_next_record_has_all_that_was_secret_but_the_logs() -> None:
    line = RECORD.line
    assert (line.race, line.reason, line.seed, line.logs) == (2, "damaged", SEED, 1)
    assert line.nonces == {ANNA.player: ANNA.nonce, ZOE.player: ZOE.nonce}


def test_an_honest_void_record_verifies_and_says_what_it_means() -> None:
    verdict = verify(format_void_record(RECORD))
    assert verdict.ok, verdict.faults
    assert verdict.void == RECORD
    (voided,) = (check.detail for check in verdict.checks if check.name == "voided")
    assert voided.startswith("the server's stored data of the race were damaged; 1 of 2 logs")


@pytest.mark.parametrize(
    ("record", "failed"),
    [
        (replace(RECORD, seed="00" * 32), "commitment"),
        (replace(RECORD, seed=""), "commitment"),
        (replace(RECORD, seed="", commitment=""), "commitment"),
        (replace(RECORD, racers=(replace(ANNA, nonce=""), ZOE)), "nonces"),
    ],
    ids=["another seed", "no seed", "no seed and no commitment", "no nonce"],
)
def test_a_void_record_that_hides_something_is_not_verified(
    record: VoidRecord, failed: str
) -> None:
    assert [check.name for check in verify(format_void_record(record)).faults] == [failed]


def test_a_changed_line_breaks_the_digest() -> None:
    text = format_void_record(RECORD).replace("502 1 draw", "503 1 draw")
    assert "digest" in {check.name for check in verify(text).faults}
    assert digest_of(text) not in text
