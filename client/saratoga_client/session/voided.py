"""Races that the server voided, and what to say about them. Pure."""

from saratoga_client.problems import Exit, Problem
from saratoga_protocol import events
from saratoga_rules.records.voided import VOID_REASONS


def voided_words(voided: events.VoidedRace) -> str:
    """Return why a race was voided, what that means, and how to check it."""
    reason = VOID_REASONS.get(voided.reason, voided.reason)
    return (
        f"voided by the server: {reason}. It counts for nothing. "
        f"To check it: saratoga verify {voided.race}"
    )


def newly_voided(before: events.Table, after: events.Table) -> list[events.VoidedRace]:
    """Return the races voided since an earlier version of the table."""
    known = {voided.race for voided in before.voided}
    return [voided for voided in after.voided if voided.race not in known]


def voided_problem(race: str) -> Problem:
    """Return the message that a voided race has no boards to look at."""
    return Problem(
        f"Race {race} was voided by the server, so it has no result and no boards to replay.",
        f"See what was opened of it: saratoga verify {race}",
        Exit.REFUSED,
    )
