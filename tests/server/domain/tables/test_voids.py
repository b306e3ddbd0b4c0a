"""The record of a race that cannot go on: as much of it as can be read."""

from msgspec.structs import replace

from kit.tables import ANN, BEN, CODE, running
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import parse_void_record
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


def test_a_seed_of_another_length_is_not_opened() -> None:
    assert parse_void_record(voided_of(replace(TABLE, seed="5eed"), LOGS).record).seed == ""
