"""A race or countdown that the store has lost is voided: its deal is spent, and must not be offered again."""

from msgspec.structs import replace

from saratoga_rules.records.voided import DAMAGED, SERVER_AWAY
from saratoga_server.domain.tables.countdown import NEW_DEAL
from saratoga_server.domain.tables.next_deal import with_voided
from saratoga_server.domain.tables.state import Change, TablePhase, TableState
from saratoga_server.domain.tables.voids import (
    ReadableLog,
    voided_countdown,
    voided_of,
)


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
    if known.missing:
        void = voided_countdown(known, SERVER_AWAY)
    else:
        # the log of a race that has started is not read
        log = ReadableLog((), is_complete=known.phase is TablePhase.COUNTDOWN)
        void = voided_of(known, dict.fromkeys(known.racers, log), DAMAGED)
    notice = f"The server's store lost data, and {known.race_id} was voided. {NEW_DEAL}"
    gathering = replace(with_voided(table, void.voided, fresh_seed), notice=notice)
    return Change(gathering, (void.effect,))
