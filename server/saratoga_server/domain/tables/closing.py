"""Closing a table permanently. A race or countdown under way is voided."""

from msgspec.structs import replace

from saratoga_rules.records.record import CLOSED_IN_COUNTDOWN, VOID_REASONS
from saratoga_server.domain.tables.next_deal import with_voided
from saratoga_server.domain.tables.phases import checked_open
from saratoga_server.domain.tables.records import voided_countdown
from saratoga_server.domain.tables.state import (
    NO_TIME,
    Change,
    CommandRejected,
    Effect,
    RaceVoided,
    SeatVacated,
    TableClosed,
    TablePhase,
    TableState,
)
from saratoga_server.ports import Millis


def close(
    table: TableState,
    reason: str,
    *,
    now: Millis,
    fresh_seed: bytes,
    race: RaceVoided | None = None,
) -> Change:
    """Return the change that closes the table permanently.

    A countdown is voided, and so is a running race, for which `race` is needed (`closed_race`).
    """
    checked_open(table)
    change = _with_void(table, fresh_seed, race)
    table, notice = change.table, reason
    if change.effects:
        assert table.previous is not None
        race_id, why = table.previous.race, VOID_REASONS[table.previous.reason]
        notice = f"{reason.rstrip('.')}. {race_id} was voided: {why}. It counts for nothing."
    lost: tuple[Effect, ...] = tuple(SeatVacated(seat.player, notice) for seat in table.seats)
    emptied = table.without(*table.seats)
    closed = replace(
        emptied,
        phase=TablePhase.CLOSED,
        host="",
        locked=False,
        last_racer="",
        end_from=NO_TIME,
        notice=notice,
        touched=now,
    )
    return change.then(Change(closed, (*lost, TableClosed(notice))))


def _with_void(table: TableState, fresh_seed: bytes, race: RaceVoided | None) -> Change:
    """Return the change that voids the table's race or countdown, if any."""
    if table.phase is TablePhase.COUNTDOWN:
        race = voided_countdown(table, CLOSED_IN_COUNTDOWN)
    elif table.phase is not TablePhase.RUNNING:
        return Change(table)
    if race is None or race.ended.race != table.race_id:
        raise CommandRejected("store_unavailable", "A race has begun meanwhile. Try again.")
    voided = with_voided(table, race.ended, fresh_seed)
    return Change(voided, (race,))
