"""The record of a race that cannot go on: as much of it as can be read."""

import pytest
from msgspec.structs import replace

from kit.tables import ANN, BEN, CODE, running
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import parse_void_record
from saratoga_server.domain.tables import TableState
from saratoga_server.domain.tables.voids import ReadableLog, voided_lines_of, voided_of
from saratoga_server.ports import LogEntry, Millis

TABLE = running(ANN, BEN)
LOGS = {ANN: ReadableLog((), True), BEN: ReadableLog((), False)}


def entry(text: str, number: int) -> LogEntry:
    return LogEntry(text, Millis(TABLE.start_at + number), number, number)


def test_a_voided_race_opens_seed_nonces_and_logs() -> None:
    log = (entry("draw", 1), entry("cash-out", 2))
    result = voided_of(TABLE, LOGS | {ANN: ReadableLog(log, True)})
    record = parse_void_record(result.record)
    assert verify(result.record).ok
    assert [line.text for line in record.racers[0].log] == ["draw", "cash-out"]
    assert [racer.complete for racer in record.racers] == [True, False]
    voided = result.voided
    assert (voided.race, voided.reason, voided.logs) == (f"{CODE}/1", "damaged", 1)
    assert (voided.seed, voided.nonces) == (TABLE.seed, TABLE.nonces)
    assert voided_lines_of([voided]) == (record.line,)


@pytest.mark.parametrize(
    "table",
    [
        replace(TABLE, seed="xy"),
        replace(TABLE, nonces={ANN: "xy"}),
        replace(TABLE, commitment="xy", seed=""),
        replace(TABLE, commitment="\x00"),
    ],
)
def test_what_cannot_be_read_is_said_to_be_unreadable(table: TableState) -> None:
    result = voided_of(table, LOGS)
    record = parse_void_record(result.record)
    assert record.seed in (table.seed, "")
    assert {racer.nonce for racer in record.racers} <= {*table.nonces.values(), ""}


def test_a_commitment_is_unreadable_if_neither_it_nor_the_seed_can_be_read() -> None:
    lost = voided_of(replace(TABLE, commitment="xy", seed="xy"), LOGS)
    assert parse_void_record(lost.record).commitment == lost.voided.commitment == ""
    made = voided_of(replace(TABLE, commitment="xy"), LOGS).voided
    seed = bytes.fromhex(made.seed)
    assert made.commitment == commitment(seed, made.game, made.rules, CODE, 1, cap=10, public=False)
