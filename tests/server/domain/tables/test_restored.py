"""A table in a store that was restored from older data gives no race number twice."""

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    NOON,
    OTHER_SEED,
    after,
    all_shown,
    calling,
    counting,
    in_phase,
    next_id,
    over,
    running,
    seated,
)
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables import (
    RaceVoided,
    TablePhase,
    TableState,
    lost,
    next_race,
    restored,
    void,
)
from saratoga_server.domain.tables.countdown import CALL_MILLIS
from saratoga_server.domain.tables.restored import LAST_RACE, LEAST_GAP
from saratoga_server.domain.tables.voids import ReadableLog, voided_of
from saratoga_server.ports import Millis

HOUR = 3_600_000
LEFT_OUT = voided_of(running(ANN, BEN), {}).voided


def back(table: TableState, millis: int = 0) -> TableState:
    """Return the table that was restored so long after its last command."""
    change = restored(table, now=Millis(table.touched + millis), fresh_seed=OTHER_SEED)
    assert change is not None
    return change.table


@pytest.mark.parametrize("table", [seated(ANN, BEN), calling(ANN, BEN)])
def test_a_deal_that_players_may_know_is_discarded_with_its_number(table: TableState) -> None:
    after_it = back(replace(table, voided=(LEFT_OUT,)))
    assert (after_it.phase, after_it.race) == (TablePhase.GATHERING, 2 + LEAST_GAP)
    assert (after_it.seed, after_it.race_gap) == (OTHER_SEED.hex(), 0)
    assert after_it.commitment != table.commitment
    assert not any(seat.is_ready for seat in after_it.seats)
    assert after_it.voided == (), "a record lists voided races without a gap"
    assert "go on at 1002." in after_it.notice


def test_a_countdown_is_voided_with_a_record() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    change = restored(table, now=table.touched, fresh_seed=OTHER_SEED)
    assert change is not None
    assert (change.table.phase, change.table.race) == (TablePhase.GATHERING, 2 + LEAST_GAP)
    (voided,) = change.effects
    assert isinstance(voided, RaceVoided)
    assert (voided.race, voided.reason) == (table.race_id, "server-away")
    assert verify(voided.record).ok


def test_a_countdown_whose_every_nonce_was_revealed_is_voided_as_damaged() -> None:
    table = all_shown(counting(ANN, BEN))
    change = restored(table, now=table.touched, fresh_seed=OTHER_SEED)
    assert change is not None
    (voided,) = change.effects
    assert isinstance(voided, RaceVoided)
    assert voided.reason == "damaged"
    assert verify(voided.record).ok


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (all_shown(counting(ANN, BEN), ANN), "server-away"),
        (all_shown(counting(ANN, BEN)), "damaged"),
        (running(ANN, BEN), "damaged"),
    ],
    ids=["countdown", "all nonces", "race"],
)
@pytest.mark.parametrize("stored", [calling(ANN, BEN), counting(ANN, BEN)], ids=["call", "racers"])
def test_a_race_that_the_store_has_lost_is_voided(
    known: TableState, reason: str, stored: TableState
) -> None:
    change = lost(stored, known, OTHER_SEED)
    assert change is not None
    (voided,) = change.effects
    assert isinstance(voided, RaceVoided)
    assert (voided.race, voided.reason) == (known.race_id, reason)
    assert verify(voided.record).ok
    assert (change.table.phase, change.table.race) == (TablePhase.GATHERING, known.race + 1)
    assert change.table.blocked == ()
    assert lost(change.table, known, OTHER_SEED) is None, "another node voids nothing more"


def test_a_race_that_goes_on_is_not_lost() -> None:
    shown = all_shown(counting(ANN, BEN), ANN)
    states = [calling(ANN, BEN), counting(ANN, BEN), shown, running(ANN, BEN), over(ANN, BEN)]
    for place, known in enumerate(states):
        for state in states[place:]:
            assert lost(state, known, OTHER_SEED) is None


def test_a_running_race_goes_on_and_the_next_one_has_a_higher_number() -> None:
    table = running(ANN, BEN)
    goes_on = back(table)
    assert replace(goes_on, race_gap=0, notice="") == replace(table, notice="")
    lost = voided_of(goes_on, {player: ReadableLog((), False) for player in table.racers})
    gathering = void(goes_on, lost, now=NOON, fresh_seed=OTHER_SEED).table
    assert (gathering.race, gathering.race_gap, gathering.voided) == (2 + LEAST_GAP, 0, ())


def test_the_race_after_a_finished_one_has_a_higher_number() -> None:
    table = back(over(ANN, BEN))
    assert (table.phase, table.race) == (TablePhase.OVER, 1)
    following = next_race(
        table, ANN, next_id(table, ANN), now=after(90_000), fresh_seed=OTHER_SEED
    ).table
    assert (following.race, following.race_gap) == (2 + LEAST_GAP, 0)


def test_the_gap_is_longer_than_races_can_have_been_played_since_the_last_command() -> None:
    assert back(seated(ANN), 24 * HOUR).race == 2 + 24 * HOUR // CALL_MILLIS
    assert back(back(seated(ANN))).race == 2 * (LEAST_GAP + 1) + 1
    assert back(seated(ANN), -HOUR).race == 2 + LEAST_GAP


def test_a_restore_uses_up_half_of_the_numbers_at_most() -> None:
    table = back(replace(seated(ANN), race=LAST_RACE - 100), 10_000 * HOUR)
    assert table.race == LAST_RACE - 49
    last = replace(seated(ANN), race=LAST_RACE - 1)
    assert back(last).race == LAST_RACE


def test_a_closed_table_stays_as_it_is() -> None:
    assert restored(in_phase(TablePhase.CLOSED), now=NOON, fresh_seed=OTHER_SEED) is None
