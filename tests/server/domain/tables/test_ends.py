"""Tables that are closed, and races that cannot go on: voided, with a record."""

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CODE,
    NOON,
    OTHER_SEED,
    after,
    all_shown,
    calling,
    counting,
    in_phase,
    over,
    running,
    seated,
)
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import parse_void_record
from saratoga_server.domain.tables import (
    CommandRejected,
    RaceVoided,
    SeatVacated,
    TableClosed,
    TablePhase,
    TableState,
    close,
    closed_race,
    leave,
    lost,
    not_ready,
)
from saratoga_server.domain.tables.lifecycle import never_raced
from saratoga_server.domain.tables.voids import (
    ReadableLog,
    VoidedResult,
    voided_lines_of,
    voided_of,
)
from saratoga_server.ports import LogEntry, Millis

# Closing a table: whatever races there is voided, and has a record


RUNNING = running(ANN, BEN)
DRAWN = ReadableLog((LogEntry("draw", after(5_900), 1, 1),), True)
ENDED = ReadableLog((LogEntry("cash-out", after(6_000), 2, 1),), True, True)


def record_of(table: TableState) -> VoidedResult | None:
    is_running = table.phase is TablePhase.RUNNING
    return closed_race(table, {ANN: DRAWN, BEN: ENDED}) if is_running else None


@pytest.mark.parametrize("phase", [TablePhase.GATHERING, TablePhase.CALL, TablePhase.OVER])
def test_a_table_at_which_nobody_races_is_closed_with_the_reason_only(phase: TablePhase) -> None:
    change = close(in_phase(phase), "The house closes.", now=after(100), fresh_seed=OTHER_SEED)
    assert change.effects == (
        SeatVacated(ANN, "The house closes."),
        SeatVacated(BEN, "The house closes."),
        TableClosed("The house closes."),
    )
    closed = change.table
    assert (closed.phase, closed.seats, closed.host) == (TablePhase.CLOSED, (), "")


def test_a_start_that_is_called_off_is_no_race_and_a_voided_countdown_has_a_record() -> None:
    called_off = not_ready(calling(ANN, BEN), ANN, 9, now=NOON).table
    for table in (seated(ANN, BEN), called_off):
        assert never_raced(close(table, "Closing time.", now=NOON, fresh_seed=OTHER_SEED).table)
    voided = leave(counting(ANN, BEN), BEN, 9, now=NOON, fresh_seed=OTHER_SEED).table
    assert not never_raced(close(voided, "Closing time.", now=NOON, fresh_seed=OTHER_SEED).table)


@pytest.mark.parametrize("table", [counting(ANN, BEN), RUNNING, over(ANN)])
def test_a_table_that_raced_is_known_as_such_from_then_on(table: TableState) -> None:
    assert not never_raced(table)
    change = close(
        table, "Closing time.", now=after(90_000), fresh_seed=OTHER_SEED, race=record_of(table)
    )
    assert not never_raced(change.table)


def test_a_countdown_is_voided_with_its_racers_when_the_table_is_closed() -> None:
    table = all_shown(counting(ANN, BEN), BEN)
    change = close(table, "It is late", now=after(3_000), fresh_seed=OTHER_SEED)
    (voided,) = change.table.voided
    assert (voided.race, voided.reason) == (table.race_id, "closed-in-countdown")
    assert (voided.seed, [*voided.nonces], [*voided.missing]) == (table.seed, [BEN], [ANN])
    first, *lost = change.effects
    assert isinstance(first, RaceVoided)
    assert verify(first.record).ok
    assert [racer.player for racer in parse_void_record(first.record).racers] == [ANN, BEN]
    said = (
        "It is late. mint-otter-42/1 was voided: the table was closed in the countdown. It counts for "
        "nothing."
    )
    assert lost == [SeatVacated(ANN, said), SeatVacated(BEN, said), TableClosed(said)]


def test_a_running_race_is_voided_with_its_logs_when_the_table_is_closed() -> None:
    race = record_of(RUNNING)
    assert race is not None
    change = close(RUNNING, "It is late.", now=NOON, fresh_seed=OTHER_SEED, race=race)
    closed = change.table
    assert (closed.phase, closed.race, closed.racers) == (TablePhase.CLOSED, 2, {})
    assert [(each.race, each.reason, each.logs) for each in closed.voided] == [
        (RUNNING.race_id, "closed", 2)
    ]
    assert change.effects[0] == RaceVoided(RUNNING.race_id, "closed", race.record, 2)
    assert [len(racer.log) for racer in parse_void_record(race.record).racers] == [1, 1]
    assert closed.notice.endswith("the table was closed during the race. It counts for nothing.")


def test_the_record_of_a_damaged_race_need_not_have_every_entry() -> None:
    race = closed_race(RUNNING, {ANN: DRAWN, BEN: ReadableLog((), False)})
    assert (race.voided.reason, race.voided.logs, race.entries) == ("closed", 1, None)


def test_a_race_whose_boards_have_all_ended_is_not_voided() -> None:
    with pytest.raises(CommandRejected, match="its results count") as refused:
        closed_race(RUNNING, {ANN: ENDED, BEN: ENDED})
    assert not refused.value.retry


def test_a_running_race_is_not_closed_without_its_own_record() -> None:
    for race in (None, record_of(replace(RUNNING, race=2))):
        with pytest.raises(CommandRejected) as refused:
            close(RUNNING, "Late.", now=NOON, fresh_seed=OTHER_SEED, race=race)
        assert refused.value.retry


def test_a_table_is_closed_once() -> None:
    with pytest.raises(CommandRejected) as refused:
        close(in_phase(TablePhase.CLOSED), "Again.", now=NOON, fresh_seed=OTHER_SEED)
    assert refused.value.code == "table_closed"


# A race or countdown that the store has lost is voided; one that goes on is not


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (all_shown(counting(ANN, BEN), ANN), "server-away"),
        (all_shown(counting(ANN, BEN)), "damaged"),
        (running(ANN, BEN), "damaged"),
    ],
    ids=["countdown", "all nonces", "race"],
)
@pytest.mark.parametrize("stored", [calling(ANN, BEN), counting(ANN, BEN)], ids=["call", "racers"])
def test_a_race_that_the_store_has_lost_is_voided(
    known: TableState, reason: str, stored: TableState
) -> None:
    change = lost(stored, known, OTHER_SEED)
    assert change is not None
    (voided,) = change.effects
    assert isinstance(voided, RaceVoided)
    assert (voided.race, voided.reason) == (known.race_id, reason)
    assert verify(voided.record).ok
    assert (change.table.phase, change.table.race) == (TablePhase.GATHERING, known.race + 1)
    assert change.table.blocked == ()
    assert lost(change.table, known, OTHER_SEED) is None, "another node voids nothing more"


def test_a_race_that_goes_on_is_not_lost() -> None:
    shown = all_shown(counting(ANN, BEN), ANN)
    states = [calling(ANN, BEN), counting(ANN, BEN), shown, running(ANN, BEN), over(ANN, BEN)]
    for place, known in enumerate(states):
        for state in states[place:]:
            assert lost(state, known, OTHER_SEED) is None


# The record of a race that cannot go on: as much of it as can be read


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
