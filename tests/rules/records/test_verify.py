"""Verification: honest records verify, and a lie fails the check that it should; see also `test_forgeries`."""

import re
from dataclasses import replace
from typing import Any

import pytest

from kit.positions import banking, wandering
from kit.races import (
    Entrant,
    closed,
    countdown_voided,
    entries_of,
    promised,
    race,
    renumbered,
    sealed,
    settled,
    with_line,
    with_racer,
)
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.records.record import (
    CLOSED,
    NONCE_MISSING,
    RACER_LEFT,
    SERVER_AWAY,
    VOID_REASONS,
    LogLine,
    Previous,
    RaceRecord,
    format_record,
)
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, State
from saratoga_rules.records.verify import Verdict, verify

FIELD = (
    Entrant("Anna", banking),
    Entrant("Zoë", wandering, goes=State.LEFT, patience=60),
    Entrant("Cay", banking, bot=True, patience=9),
)
RECORD = race("canfield", 5, FIELD)
TEXT = format_record(RECORD)


def failed(verdict: Verdict) -> set[str]:
    return {check.name for check in verdict.faults}


def states_of(record: RaceRecord) -> list[str]:
    return [row.state for row in record.results]


# Forgeries with a matching digest


def test_a_record_without_racers_does_not_verify() -> None:
    assert "nonces" in failed(verify(replace(RECORD, racers=(), results=())))


@pytest.mark.parametrize("changes", [{"rules_version": 99}, {"game": "spider"}])
def test_unknown_rules_cannot_be_checked_here_but_all_else_can(changes: dict[str, Any]) -> None:
    newer = promised(replace(RECORD, **changes))
    verdict = verify(newer)
    assert failed(verdict) == {"rules"}
    assert not verdict.is_contradicted
    assert "made by a newer release" in verdict.faults[0].detail
    for lie in ({"commitment": "ab" * 32}, {"previous": Previous(RECORD.race_id, "ab" * 32)}):
        assert verify(replace(newer, **lie)).is_contradicted


def with_a_newer_deal(record: RaceRecord, **changes: Any) -> str:
    """Return the text of the record as a newer release may write it, after these changes."""
    newer = format_record(promised(replace(record, **changes)))
    return sealed(re.sub("deal .*", "deal of another form", newer).split("\n")[:-2])


@pytest.mark.parametrize("changes", [{"rules_version": 99}, {"game": "spider"}])
def test_a_newer_deal_is_left_to_a_newer_release(changes: dict[str, Any]) -> None:
    text = with_a_newer_deal(RECORD, **changes)
    verdict = verify(text)
    assert failed(verdict) == {"rules"}
    assert verdict.record is not None
    assert format_record(verdict.record) == text


@pytest.mark.parametrize("reason", [CLOSED, SERVER_AWAY, "moon-full"])
def test_a_voided_race_with_a_newer_deal_was_dealt(reason: str) -> None:
    verdict = verify(with_a_newer_deal(closed(RECORD, 9), rules_version=99, voided=reason))
    assert failed(verdict) == {"rules", *(["voided"] if reason == SERVER_AWAY else [])}


@pytest.mark.parametrize(
    "first", ["saratoga record 1", "saratoga void record 1", "saratoga record 9"]
)
def test_a_record_of_another_release_cannot_be_checked_here(first: str) -> None:
    verdict = verify(TEXT.replace("saratoga record 2", first))
    assert [(check.name, check.unknown) for check in verdict.checks] == [("text", True)]
    assert verdict.checks[0].detail.endswith(" release")
    assert not verdict.is_contradicted


def test_a_reason_of_a_newer_release_is_no_contradiction() -> None:
    assert verify(countdown_voided(RECORD, "moon-full")).ok
    for number in (9, 10**6):
        assert verify(replace(closed(RECORD, number), voided="moon-full")).ok


def test_a_board_declared_stuck_before_the_stock_was_seen_is_detected_without_a_search(
    searches: list[Position],
) -> None:
    record = race("canfield", 5, [Entrant("Anna", banking, patience=2)])
    verdict = verify(settled(with_line(record, record.racers[0], -1, text="stuck")))
    assert failed(verdict) == {"endings"}
    assert verdict.faults[0].detail == "Anna: declared stuck before every stock card had been seen"
    assert searches == []


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Position]:
    """Record the positions that are searched; every search is endless."""
    begun: list[Position] = []

    def search(game: Game, position: Position, limit: int) -> None:
        begun.append(position)

    monkeypatch.setattr("saratoga_rules.records.verify.is_stuck", search)
    return begun


def test_after_one_false_ending_no_further_search_is_made(searches: list[Position]) -> None:
    record = race("canfield", 5, [Entrant(name, banking) for name in ("Anna", "Ben", "Cay")])
    assert states_of(record).count(State.STUCK) > 1
    verdict = verify(record)
    assert failed(verdict) == {"endings"}
    assert len(searches) == 1


def test_a_log_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    most = max(len(racer.log) for racer in RECORD.racers)
    monkeypatch.setattr("saratoga_rules.records.verify.MOST_ENTRIES", most - 1)
    assert verify(RECORD).ok, "the ending comes on top"
    monkeypatch.setattr("saratoga_rules.records.verify.MOST_ENTRIES", most - 2)
    verdict = verify(RECORD)
    assert failed(verdict) == {"moves"}
    assert f"{most} entries" in verdict.faults[0].detail


def test_a_board_that_cannot_be_proved_stuck_does_not_verify(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert State.STUCK in states_of(RECORD)
    monkeypatch.setattr("saratoga_rules.records.verify.PROOF_LIMIT", 0)
    verdict = verify(RECORD)
    assert failed(verdict) == {"endings"}
    assert "a search of 0 arrangements" in verdict.faults[0].detail


@pytest.mark.parametrize("public", [True, False])
def test_a_race_need_not_count_but_never_counts_without_two_people(public: bool) -> None:
    played = race("canfield", 5, FIELD, public=public)
    for ranked in (True, False):
        assert verify(replace(played, ranked=ranked)).ok
    alone = race("canfield", 5, FIELD[::2], public=public)
    assert failed(verify(replace(alone, ranked=True))) == {"ranked"}


# Endings by the host and by idleness: the record shows whether enough time had passed


FIELD_ENDINGS = [Entrant(name, banking, patience=3) for name in ("Anna", "Ben", "Cay")]


def ended_by_host(record: RaceRecord, alone: int) -> RaceRecord:
    """Return the record with the last board ended by the host, `alone` ms after the last other ending."""
    *others, last = sorted(record.racers, key=lambda racer: racer.log[-1].number)
    at = alone + max((racer.log[-1].at for racer in others), default=0)
    return settled(with_line(record, last, -1, text="ended-by-host", at=at))


@pytest.mark.parametrize("racers", [2, 3])
def test_the_host_may_end_the_last_board_a_minute_after_the_others(racers: int) -> None:
    record = race("lafayette", 2, FIELD_ENDINGS[:racers])
    verdict = verify(ended_by_host(record, LAST_BOARD_MILLIS))
    assert verdict.ok, verdict.faults
    assert failed(verify(ended_by_host(record, LAST_BOARD_MILLIS - 1))) == {"endings"}


def test_the_host_who_ends_the_last_persons_board_waits_for_no_bot() -> None:
    field = [Entrant(name, banking, patience=3) for name in ("Anna", "Ben")]
    played = race("lafayette", 2, [*field, Entrant("Cay", banking, bot=True)], pace=3_000)
    by_name = {racer.name: racer for racer in played.racers}
    due = by_name["Anna"].log[-1].at + LAST_BOARD_MILLIS
    assert by_name["Ben"].log[-1].at < due < by_name["Cay"].log[-1].at
    for at, faults in ((due, set()), (due - 1, {"endings"})):
        ended = with_line(played, by_name["Ben"], -1, text="ended-by-host", at=at)
        for number, (line, racer, place) in enumerate(
            sorted(entries_of(ended), key=lambda entry: entry.line.at), 1
        ):
            if line.number != number:
                ended = with_line(ended, ended.racer(racer.player), place, number=number)
        assert failed(verify(settled(ended))) == faults


def idle(record: RaceRecord, millis: int, moves: int) -> RaceRecord:
    """Return the record with the last board ended as idle, `millis` after its last of `moves` moves."""
    *_, last = sorted(record.racers, key=lambda racer: racer.log[-1].number)
    others = [racer.log[-1].at for racer in record.racers if racer is not last]
    since = last.log[moves - 1].at if moves else 0
    at = max(since + millis, *others)
    entry = LogLine(at, max(line.number for racer in record.racers for line in racer.log), "idle")
    ended = replace(last, log=(*last.log[:moves], entry))
    racers = tuple(ended if racer is last else racer for racer in record.racers)
    return settled(renumbered(replace(record, racers=racers)))


@pytest.mark.parametrize("moves", [0, 3])
def test_a_board_may_end_as_idle_three_minutes_after_its_last_move(moves: int) -> None:
    record = race("lafayette", 2, FIELD_ENDINGS[:2])
    verdict = verify(idle(record, IDLE_MILLIS, moves))
    assert verdict.ok, verdict.faults
    (fault,) = verify(idle(record, IDLE_MILLIS - 1, moves)).faults
    assert (fault.name, fault.detail.partition(": ")[2]) == (
        "endings",
        "ended as idle less than 180000 ms after the racer's last move",
    )


def test_boards_end_when_only_bots_race_by_a_vote_or_because_a_racer_is_gone() -> None:
    people = [Entrant(name, banking, patience=3) for name in ("Anna", "Ben")]
    bots = [*people, Entrant("Cay", banking, bot=True, patience=20)]
    for field, word in (
        (bots, "bots-stopped"),
        (FIELD_ENDINGS, "ended-by-vote"),
        (FIELD_ENDINGS, "gone"),
    ):
        played = race("lafayette", 2, field)
        last = entries_of(played)[-1]
        assert verify(settled(with_line(played, last.racer, last.place, text=word))).ok


# Races that were voided


@pytest.mark.parametrize("reason", [reason for reason in VOID_REASONS if reason != CLOSED])
def test_an_honest_voided_countdown_verifies_and_names_who_is_blamed(reason: str) -> None:
    void = countdown_voided(RECORD, reason)
    verdict = verify(void)
    assert verdict.ok, verdict.faults
    assert verdict.record == void
    assert VOID_REASONS[reason] in verdict.checks[-1].detail
    name = RECORD.racers[0].name
    assert (f"({name})" in verdict.checks[-1].detail) == bool(void.blamed)
    hidden = verdict.checks[4].detail
    assert (f"except that of {name}" in hidden) == (reason == NONCE_MISSING)


def test_nonces_that_were_not_due_yet_are_nobody_s_fault() -> None:
    void = countdown_voided(RECORD, RACER_LEFT)
    assert verify(with_racer(void, void.racers[2], nonce="")).ok


def test_a_closed_race_is_checked_as_far_as_it_came() -> None:
    void = closed(RECORD, 20)
    verdict = verify(void)
    assert verdict.ok, verdict.faults
    assert verdict.standing == ()
    first = void.racers[0]
    cheated = with_line(void, first, 0, at=0, number=1, text="r>t1")
    assert failed(verify(cheated)) == {"moves"}
    fewer = with_racer(void, first, log=first.log[1:])
    assert verify(fewer).is_contradicted


def test_a_log_that_the_server_could_not_read_is_no_lie() -> None:
    verdict = verify(closed(RECORD, 60, damaged=RECORD.racers[1].player))
    assert [(fault.name, fault.unknown) for fault in verdict.faults] == [("damaged", True)]
    assert RECORD.racers[1].name in verdict.faults[0].detail
    assert not verdict.is_contradicted


def test_a_race_with_results_cannot_be_voided() -> None:
    (fault,) = verify(closed(RECORD, 10**6)).faults
    assert (fault.name, fault.unknown) == ("endings", False)
    assert "so it had results" in fault.detail
