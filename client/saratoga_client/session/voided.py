"""Races that the server voided, and what to say about them. Pure."""

from saratoga_client.problems import Exit, Problem
from saratoga_protocol import events
from saratoga_rules.records.void_record import parse_void_record
from saratoga_rules.records.voided import COUNTDOWN_REASONS, VOID_REASONS


def voided_words(voided: events.VoidedRace) -> str:
    """Return why a race was voided, what that means, and how to check it."""
    reason = VOID_REASONS.get(voided.reason, voided.reason)
    if voided.reason in COUNTDOWN_REASONS:
        return (
            f"the countdown was voided: {reason}. The deal was discarded, and its seed is open. "
            f"To check it: saratoga verify {voided.race}"
        )
    return (
        f"voided by the server: {reason}. It counts for nothing. "
        f"To check it: saratoga verify {voided.race}"
    )


def newly_voided(before: events.Table, after: events.Table) -> list[events.VoidedRace]:
    """Return the races voided since an earlier version of the table."""
    known = {voided.race for voided in before.voided}
    return [voided for voided in after.voided if voided.race not in known]


def voided_problem(text: str, wanted: str = "") -> Problem:
    """Return the message that a voided race has no boards to look at.

    `text` is its record, and `wanted` the id of the race that was asked for, if any. Raises `RecordError`.
    """
    void = parse_void_record(text)
    if wanted and void.race_id != wanted:
        return wrong_race(wanted, void.race_id)
    return Problem(
        f"Race {void.race_id} was voided by the server ({VOID_REASONS[void.reason]}), so it has no result "
        "and no boards to replay.",
        f"See what was opened of it: saratoga verify {void.race_id}",
        Exit.REFUSED,
    )


def wrong_race(wanted: str, got: str) -> Problem:
    """Return the message that the server sent the record of another race than `wanted`."""
    return Problem(
        f"Race {wanted} was asked for, but the record is of race {got}.",
        "Report this to the operator of the server.",
        Exit.NOT_VERIFIED,
    )
