"""Endings by the host and by idleness: the record shows whether enough time had passed."""

from dataclasses import replace

import pytest

from kit.forged_records import renumbered, settled
from kit.races import Entrant, race
from kit.walks import banking
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, State
from saratoga_rules.records.verify import verify

FIELD = [Entrant(name, banking, patience=3) for name in ("Anna", "Ben", "Cay")]


def ended_by_host(record: RaceRecord, alone: int) -> RaceRecord:
    """Return the record with the last board ended by the host, `alone` ms after the last other ending."""
    *others, last = sorted(record.racers, key=lambda racer: racer.log[-1].number)
    at = alone + max((racer.log[-1].at for racer in others), default=0)
    entry = replace(last.log[-1], text="ended-by-host", at=at)
    state = State.ENDED_BY_HOST

    def changed(racer: RacerLog) -> RacerLog:
        if racer is not last:
            return racer
        return replace(racer, log=(*racer.log[:-1], entry), state=state)

    results = [
        replace(row, state=state) if row.player == last.player else row for row in record.results
    ]
    return replace(record, racers=tuple(map(changed, record.racers)), results=tuple(results))


@pytest.mark.parametrize("racers", [2, 3])
def test_the_host_may_end_the_last_board_a_minute_after_the_others(racers: int) -> None:
    record = race("lafayette", 2, FIELD[:racers])
    verdict = verify(ended_by_host(record, LAST_BOARD_MILLIS))
    assert verdict.ok, verdict.faults


@pytest.mark.parametrize("racers", [1, 2, 3])
def test_a_board_that_the_host_ended_too_early_is_detected(racers: int) -> None:
    early = LAST_BOARD_MILLIS - 1 if racers > 1 else 9 * LAST_BOARD_MILLIS
    verdict = verify(ended_by_host(race("lafayette", 2, FIELD[:racers]), early))
    (fault,) = verdict.faults
    assert fault.name == "endings"
    assert ("nobody else raced" if racers == 1 else "less than 60000 ms after") in fault.detail


def test_the_host_cannot_end_two_boards() -> None:
    record = ended_by_host(race("lafayette", 2, FIELD[:2]), LAST_BOARD_MILLIS)
    first = min(record.racers, key=lambda racer: racer.log[-1].number)
    log = (*first.log[:-1], replace(first.log[-1], text="ended-by-host"))
    forged = replace(first, log=log, state=State.ENDED_BY_HOST)
    racers = tuple(forged if racer is first else racer for racer in record.racers)
    verdict = verify(replace(record, racers=racers))
    assert "endings" in {fault.name for fault in verdict.faults}


def idle(record: RaceRecord, millis: int, moves: int) -> RaceRecord:
    """Return the record with the last board ended as idle, `millis` after its last of `moves` moves."""
    *_, last = sorted(record.racers, key=lambda racer: racer.log[-1].number)
    others = [racer.log[-1].at for racer in record.racers if racer is not last]
    since = last.log[moves - 1].at if moves else 0
    at = max(since + millis, *others)
    entry = LogLine(at, max(line.number for racer in record.racers for line in racer.log), "idle")
    ended = replace(last, log=(*last.log[:moves], entry), state=State.IDLE)
    racers = tuple(ended if racer is last else racer for racer in record.racers)
    return settled(renumbered(replace(record, racers=racers)))


@pytest.mark.parametrize("moves", [0, 3])
def test_a_board_may_end_as_idle_three_minutes_after_its_last_move(moves: int) -> None:
    record = race("lafayette", 2, FIELD[:2])
    verdict = verify(idle(record, IDLE_MILLIS, moves))
    assert verdict.ok, verdict.faults
    (fault,) = verify(idle(record, IDLE_MILLIS - 1, moves)).faults
    assert (fault.name, fault.detail.partition(": ")[2]) == (
        "endings",
        "ended as idle less than 180000 ms after the racer's last move",
    )
