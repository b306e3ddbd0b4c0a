"""The checks of races that the server voided: of a void record, and of the lines in a later race's record."""

from collections.abc import Iterator

from saratoga_rules.records.checks import Check, check_of
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.void_record import VoidRecord
from saratoga_rules.records.void_replay import replay_faults, void_deal
from saratoga_rules.records.voided import (
    CLOSED_REASONS,
    DAMAGED,
    NONCE_MISSING,
    VOID_REASONS,
    VoidedLine,
    reason_fault,
    seed_fault,
)


def void_checks(void: VoidRecord) -> tuple[Check, ...]:
    """Return the checks of the record of a voided race."""
    unread = [racer.name for racer in void.racers if not racer.nonce_hash]
    logs = f"{void.line.logs} of {len(void.racers)} logs are complete"
    if void.is_countdown:
        logs = "no race started"
    return (
        Check("text", True, f"a record of race {void.race_id}, which the server voided"),
        check_of("commitment", _commitment_faults(void), "the seed matches the commitment"),
        check_of(
            "nonces",
            (f"the nonce of {name} could not be read" for name in unread),
            _nonces_sentence(void),
        ),
        _deal_check(void),
        check_of(
            "voided",
            filter(None, [_reason_fault(void.line, void.table)]),
            f"{_reason(void)}; {logs}. The race counts for nothing: no place, no money",
        ),
    )


def earlier_races_check(record: RaceRecord) -> Check:
    """Return the check of the races that the server voided before the race of a record."""
    return check_of("earlier", _earlier_faults(record), _earlier_sentence(record))


def _reason(void: VoidRecord) -> str:
    """Return why the race was voided, with the name of the racer who left."""
    left = (racer.name for racer in void.racers if racer.player == void.left)
    return next((f"{name} left in the countdown" for name in left), VOID_REASONS[void.reason])


def _nonces_sentence(void: VoidRecord) -> str:
    missing = ", ".join(racer.name for racer in void.racers if racer.missing)
    if not missing:
        return "every nonce is opened"
    if void.reason == NONCE_MISSING:
        return f"not revealed: the nonce of {missing}"
    return f"the countdown ended before the nonce of {missing} came"


def _reason_fault(voided: VoidedLine, table: str) -> str:
    race = f"{table}/{voided.race}"
    return reason_fault(race, voided.reason, voided.nonces, voided.missing, voided.left)


def _commitment_faults(void: VoidRecord) -> Iterator[str]:
    for name, value in (("commitment", void.commitment), ("seed", void.seed)):
        if not value:
            yield f"the {name} of voided race {void.race_id} could not be read"
    if fault := seed_fault(void.line, void.table):
        yield fault


def _deal_check(void: VoidRecord) -> Check:
    if void.is_countdown:
        return Check("deal", True, "the countdown was voided, so nothing was dealt")
    try:
        deal = void_deal(void)
    except ReplayError as fault:
        return Check("deal", False, str(fault), unknown=True)
    if deal is None:
        return Check("deal", True, "the deal cannot be computed without the seed and every nonce")
    otherwise = "every complete log replays on the deal of the seed and the nonces"
    is_whole = void.line.logs == len(void.racers) and bool(void.commitment)
    if void.reason == DAMAGED and is_whole:
        otherwise += (
            ". Nothing in this record shows the damage for which the server voided the race"
        )
    return check_of("deal", replay_faults(void, deal), otherwise)


def _earlier_faults(record: RaceRecord) -> Iterator[str]:
    expected = record.race - len(record.voided)
    for number, voided in enumerate(record.voided, start=expected):
        if number != voided.race or number < 1:
            yield f"race {voided.race} cannot stand here among those voided before race {record.race}"
        if voided.reason in CLOSED_REASONS:
            yield f"the table was closed in race {voided.race}, so no later race can follow"
        for fault in (seed_fault(voided, record.table), _reason_fault(voided, record.table)):
            if fault:
                yield fault


def _earlier_sentence(record: RaceRecord) -> str:
    races = ", ".join(
        f"{record.table}/{each.race} ({VOID_REASONS[each.reason]})" for each in record.voided
    )
    unread = [each.race for each in record.voided if not each.seed or not each.commitment]
    seeds = "the seeds that could be read match" if unread else "their seeds match"
    lost = "".join(
        f"; the seed or the commitment of {record.table}/{race} could not be read"
        for race in unread
    )
    return f"the server voided {races} before; voided races count for nothing, and {seeds}{lost}"
