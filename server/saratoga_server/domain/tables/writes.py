"""The writes to the store for a change of a table, and a table's packed form."""

import msgspec

from saratoga_rules.games import RULES
from saratoga_server.domain.tables.lifecycle import never_raced
from saratoga_server.domain.tables.state import Change, RaceVoided, TablePhase, TableState
from saratoga_server.domain.tables.timers import due
from saratoga_server.ports import Damage, RaceFinish, RaceOpening, TableWrite

_DECODER = msgspec.msgpack.Decoder(TableState)


def pack(table: TableState) -> bytes:
    """Return the table's body for `ports.TableWrite`; equal tables give equal bytes."""
    return msgspec.msgpack.encode(table)


def unpack(body: bytes) -> TableState:
    """Return the table that `pack` packed. Raises `Damage` on other bytes."""
    try:
        state = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Damage(f"this is not a packed table: {error}") from error
    if state.settings.game not in RULES.get(state.rules_version, ()):
        raise Damage(f"this release does not know the game {state.settings.game!r}")
    return state


def write_of(
    version: int,
    before: TableState | None,
    after: TableState,
    *,
    opening_banked: int = 0,
    finish: RaceFinish | None = None,
) -> TableWrite:
    """Return the write of a change judged on `version`; a new table has version 0 and no `before`.

    `opening_banked`: cards that the deal of a starting race puts on the foundations.
    """
    return TableWrite(
        code=after.code,
        expected=version,
        body=pack(after),
        due=due(after),
        epochs={} if before is None else _new_epochs(before, after),
        race=after.race,
        opening=_opening(after, opening_banked) if starts(before, after) else None,
        finish=finish,
        unraced=after.phase is TablePhase.CLOSED and never_raced(after),
    )


def finish_of(change: Change) -> RaceFinish | None:
    """Return the record to store with a change that voids a race or countdown; else `None`."""
    for effect in change.effects:
        if isinstance(effect, RaceVoided):
            race = int(effect.ended.race.rpartition("/")[2])
            return RaceFinish(
                race=race, record=effect.record, settlement=None, entries=effect.entries
            )
    return None


def starts(before: TableState | None, after: TableState) -> bool:
    """Return whether the change starts the race."""
    is_running = after.phase is TablePhase.RUNNING
    return is_running and before is not None and before.phase is not TablePhase.RUNNING


def _opening(table: TableState, banked: int) -> RaceOpening:
    epochs = _epochs(table)
    return RaceOpening(
        race=table.race,
        start_at=table.start_at,
        deadline=table.deadline,
        banked=banked,
        epochs={player: epochs.get(player, 0) for player in table.racers},
    )


def _new_epochs(before: TableState, after: TableState) -> dict[str, int]:
    """Return the new epochs of racers who reconnected, which fence off older connections."""
    if after.phase is not TablePhase.RUNNING or before.phase is not TablePhase.RUNNING:
        return {}
    old = _epochs(before)
    return {
        player: epoch
        for player, epoch in _epochs(after).items()
        if player in after.racers and old.get(player) != epoch
    }


def _epochs(table: TableState) -> dict[str, int]:
    return {seat.player: seat.epoch for seat in table.seats}
