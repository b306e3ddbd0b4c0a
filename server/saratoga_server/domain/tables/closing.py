"""Closing a table permanently. A race or countdown under way is voided."""

from msgspec.structs import replace

from saratoga_rules.records.record import CLOSED_IN_COUNTDOWN, VOID_REASONS
from saratoga_server.domain.tables.next_deal import with_next_race
from saratoga_server.domain.tables.phases import checked_open
from saratoga_server.domain.tables.records import Voided, voided_countdown
from saratoga_server.domain.tables.state import NO_TIME, CommandRejected, TablePhase, TableState
from saratoga_server.ports import Millis


def close(
    table: TableState, reason: str, *, now: Millis, fresh_seed: bytes, race: Voided | None = None
) -> TableState:
    """Return the table, closed permanently; the notice says why.

    A countdown is voided, and so is a running race, for which `race` is needed (`closed_race`).
    """
    checked_open(table)
    notice = reason
    if table.phase is TablePhase.COUNTDOWN:
        race = voided_countdown(table, CLOSED_IN_COUNTDOWN)
    if table.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING):
        if race is None or race.ended.race != table.race_id:
            raise CommandRejected("store_unavailable", "A race has begun meanwhile. Try again.")
        why = VOID_REASONS[race.ended.reason]
        notice = f"{reason.rstrip('.')}. {table.race_id} was voided: {why}. It counts for nothing."
        ended = replace(table, previous=race.ended, voided=race.finish)
        table = with_next_race(ended, fresh_seed)
    return replace(
        table.without(*table.seats),
        phase=TablePhase.CLOSED,
        host="",
        locked=False,
        last_racer="",
        end_from=NO_TIME,
        notice=notice,
        touched=now,
    )
