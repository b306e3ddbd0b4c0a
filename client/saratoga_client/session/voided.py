"""Races that the server voided, and what to say about them. Pure."""

from collections.abc import Iterable

from saratoga_client.local.printed_command import printed_command
from saratoga_client.problems import Exit, Problem
from saratoga_client.wording import shown_name
from saratoga_protocol import events
from saratoga_rules.records.record import CLOSED, RACER_GONE, RACER_LEFT, VOID_REASONS, RaceRecord


def void_reason(voided: events.Ended, seats: Iterable[events.Seat]) -> str:
    """Return why a race was voided; if a racer left whose seat is known, with the name."""
    for seat in seats:
        if voided.reason in (RACER_LEFT, RACER_GONE) and seat.player in voided.blamed:
            what = "left" if voided.reason == RACER_LEFT else "was removed"
            return f"{shown_name(seat.name, seat.bot)} {what} in the countdown"
    return VOID_REASONS.get(voided.reason, voided.reason)


def voided_words(voided: events.Ended, seats: Iterable[events.Seat], server: str = "") -> str:
    """Return why a race was voided, what that means, and how to check it.

    `server` is the address to name in the command, if any.
    """
    reason = void_reason(voided, seats)
    check = check_line(voided.race, server)
    if voided.reason == CLOSED:
        return f"voided by the server: {reason}. It counts for nothing. {check}"
    return (
        f"the countdown was voided: {reason}. The deal was discarded, and its seed is open. {check}"
    )


def check_line(race: str, server: str = "") -> str:
    """Return the sentence with the command that checks a race."""
    return f"To check it: {printed_command('verify', race, server=server)}"


def newly_voided(before: events.Table, after: events.Table) -> events.Ended | None:
    """Return the race voided since an earlier version of the table, if any."""
    ended = after.previous
    is_new = ended is not None and ended.reason and ended != before.previous
    return ended if is_new else None


def voided_problem(void: RaceRecord, wanted: str = "", server: str = "") -> Problem:
    """Return the message that a voided race has no boards to look at.

    `wanted` is the id of the race that was asked for, if any. `server` is the address to name in the
    command, if any.
    """
    if wanted and void.race_id != wanted:
        return wrong_race(wanted, void.race_id)
    why = VOID_REASONS.get(void.voided, void.voided)
    return Problem(
        f"Race {void.race_id} was voided by the server ({why}), so it has no result "
        "and no boards to replay.",
        f"See what was opened of it: {printed_command('verify', void.race_id, server=server)}",
        Exit.REFUSED,
    )


def wrong_race(wanted: str, got: str) -> Problem:
    """Return the message that the server sent the record of another race than `wanted`."""
    return Problem(
        f"Race {wanted} was asked for, but the record is of race {got}.",
        "Report this to the operator of the server.",
        Exit.NOT_VERIFIED,
    )
