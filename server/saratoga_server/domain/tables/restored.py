"""A table in a store that was restored from older data, or has lost data: no race number is given twice.

Players may have seen races that the store has lost. If one of their numbers were given again, an honest server
would look like one that deals a race twice. So numbers are left out, more than the lost races can have had: a
number is used up every `CALL_MILLIS` at most.
"""

from typing import Final

from msgspec.structs import replace

from saratoga_server.domain.tables.countdown import CALL_MILLIS, NEW_DEAL
from saratoga_server.domain.tables.next_deal import with_next_race, with_voided
from saratoga_server.domain.tables.state import Change, TablePhase, TableState
from saratoga_server.domain.tables.voids import lost_countdown
from saratoga_server.ports import Millis

LEAST_GAP: Final = 1_000
"""The fewest race numbers that are left out, in case a clock was wrong."""

LAST_RACE: Final = 999_999
"""The highest race number of a table. A restore leaves out at most half of the numbers up to it."""


def has_lost(table: TableState, known: TableState) -> bool:
    """Return whether the store has lost the racers or nonces of a race that it has in `known`, an earlier state.

    Then the deal is spent, and the table would offer it again, or wait for nonces that were revealed already.
    """
    is_before_it = table.phase in (TablePhase.GATHERING, TablePhase.CALL, TablePhase.COUNTDOWN)
    if known.race != table.race or not is_before_it:
        return False
    return not (
        set(known.racers) <= set(table.racers) and known.nonces.keys() <= table.nonces.keys()
    )


def lost(table: TableState, known: TableState, fresh_seed: bytes) -> Change | None:
    """Return the change that voids the race of `known` if the store `has_lost` it, else `None`."""
    if not has_lost(table, known):
        return None
    void = lost_countdown(known)
    notice = f"The server's store lost data, and {known.race_id} was voided. {NEW_DEAL}"
    gathering = replace(with_voided(table, void.voided, fresh_seed), notice=notice)
    return Change(gathering, (void.effect,))


def restored(table: TableState, *, now: Millis, fresh_seed: bytes) -> Change | None:
    """Return the change after which the table's next race has a number that no lost race had.

    A deal that is being prepared is discarded, because players may know it: a countdown is voided. A running race
    goes on under its number. Returns `None` at a closed table.
    """
    if table.phase is TablePhase.CLOSED:
        return None
    lost = (now - table.touched) // CALL_MILLIS
    gap = min(max(LEAST_GAP, lost), (LAST_RACE - table.race) // 2)
    notice = (
        "The server's data were restored from an older copy. Race numbers go on at "
        f"{table.race + 1 + gap}."
    )
    change = Change(replace(table, race_gap=gap, notice=notice))
    if table.phase is TablePhase.COUNTDOWN:
        void = lost_countdown(table)
        return Change(with_voided(change.table, void.voided, fresh_seed), (void.effect,))
    if table.phase in (TablePhase.GATHERING, TablePhase.CALL):
        return Change(with_next_race(change.table, fresh_seed))
    return change
