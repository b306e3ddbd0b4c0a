"""The deal and the logs of a voided race, as far as its record opens them."""

from dataclasses import replace

import pytest

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_rules.records.checks import Check
from saratoga_rules.records.record import LogLine
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import VoidedLog, VoidRecord, format_void_record
from saratoga_rules.records.void_replay import replay_faults, void_deal
from saratoga_rules.records.voided import CLOSED

RACE = race("canfield", 3, [Entrant("Anna", banking, patience=6), Entrant("Ben", banking)])
VOID = VoidRecord(
    game=RACE.game,
    rules_version=RACE.rules_version,
    table=RACE.table,
    race=RACE.race,
    start_at=RACE.start_at,
    cap=RACE.cap,
    public=RACE.public,
    reason="damaged",
    commitment=RACE.commitment,
    seed=RACE.seed,
    racers=tuple(
        VoidedLog(
            player=racer.player,
            name=racer.name,
            bot=racer.bot,
            nonce=racer.nonce,
            log=racer.log,
            complete=True,
        )
        for racer in RACE.racers
    ),
)
RIGGED = replace(VOID.racers[0], log=(LogLine(1, 1, "w>up"),))


def deal_check(void: VoidRecord) -> Check:
    (check,) = (each for each in verify(format_void_record(void)).checks if each.name == "deal")
    return check


def test_the_deal_follows_from_the_seed_and_all_nonces() -> None:
    assert void_deal(VOID) == RACE.deal
    assert void_deal(replace(VOID, seed="")) is None
    unread = replace(VOID.racers[0], nonce="")
    assert void_deal(replace(VOID, racers=(unread, *VOID.racers[1:]))) is None


def test_rules_that_this_program_does_not_know_are_refused() -> None:
    with pytest.raises(ReplayError):
        void_deal(replace(VOID, rules_version=999))
    assert not deal_check(replace(VOID, rules_version=999)).ok


def test_a_log_marked_complete_that_does_not_replay_is_a_fault() -> None:
    void = replace(VOID, racers=(RIGGED, *VOID.racers[1:]))
    (fault,) = replay_faults(void, RACE.deal)
    assert fault.startswith(f"{RIGGED.name}, entry ")
    assert fault.endswith("though the log is marked complete")
    assert not deal_check(void).ok


def test_a_complete_log_that_goes_on_after_its_end_is_a_fault() -> None:
    first, *others = VOID.racers
    at = first.log[-1].at
    went_on = replace(first, log=(*first.log, LogLine(at, 99, "cash-out")))
    check = deal_check(replace(VOID, racers=(went_on, *others)))
    assert check.detail == f"{first.name}: the log continues after the board ended at {at} ms"
    assert not check.ok


def test_a_log_marked_damaged_is_not_replayed() -> None:
    void = replace(VOID, racers=(replace(RIGGED, complete=False), *VOID.racers[1:]))
    assert deal_check(void).ok
    assert "shows the damage" not in deal_check(void).detail


def test_a_record_in_which_everything_is_whole_says_that_it_shows_no_damage() -> None:
    assert verify(format_void_record(VOID)).ok
    assert "Nothing in this record shows the damage" in deal_check(VOID).detail


def test_a_race_with_results_cannot_be_voided_because_the_table_is_closed() -> None:
    closed = replace(VOID, reason=CLOSED)
    assert "every board had ended" in deal_check(closed).detail
    assert not deal_check(closed).ok
    first, *others = VOID.racers
    racing = replace(first, log=first.log[:-1])
    for racer in (racing, replace(first, complete=False)):
        check = deal_check(replace(closed, racers=(racer, *others)))
        assert check.ok, check
        assert "shows the damage" not in check.detail
