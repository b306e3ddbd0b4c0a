"""The writes of a change of a table: its timer, its new boards, their epochs and the result."""

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    CODE,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_shown,
    counting,
    in_phase,
    over,
    running,
    seated,
)
from saratoga_server.domain.tables import (
    TablePhase,
    TableState,
    close,
    due,
    elapse,
    join,
    resume,
    unpack,
)
from saratoga_server.domain.tables.writes import starts, write_of
from saratoga_server.ports import RaceFinish, RaceOpening


def started(table: TableState) -> TableState:
    """Return the change at the end of the countdown."""
    change = elapse(table, table.start_at, OTHER_SEED)
    assert change is not None
    return change.table


def resumed(table: TableState, player: str) -> TableState:
    return resume(table, player, node=NODE, now=after(10_000)).table


def test_a_new_table_is_written_as_its_first_version() -> None:
    table = seated(ANN)
    write = write_of(0, None, table)
    assert (write.code, write.expected, write.due) == (CODE, 0, due(table))
    assert unpack(write.body) == table
    assert (write.race, write.opening, write.finish) == (1, None, None)
    assert (write.epochs, write.unraced) == ({}, False)


def test_the_start_of_a_race_opens_a_board_for_every_racer() -> None:
    before = all_shown(counting(ANN, BEN))
    table = started(before)
    assert starts(before, table)
    assert write_of(4, before, table, opening_banked=7).opening == RaceOpening(
        race=1,
        start_at=table.start_at,
        deadline=table.deadline,
        banked=7,
        epochs={ANN: 1, BEN: 2},
    )


def test_a_racer_whose_seat_is_gone_gets_a_board_that_any_epoch_may_write_to() -> None:
    before = all_shown(counting(ANN, BEN))
    table = replace(started(before), seats=before.seats[:1])
    opening = write_of(4, before, table).opening
    assert opening is not None
    assert opening.epochs == {ANN: 1, BEN: 0}


@pytest.mark.parametrize("phase", TablePhase)
def test_only_the_change_to_running_starts_a_race(phase: TablePhase) -> None:
    before = in_phase(phase)
    assert not starts(None, before)
    assert not starts(before, before)
    assert starts(before, running(ANN, BEN)) is (phase is not TablePhase.RUNNING)
    assert write_of(2, before, before).opening is None


def test_new_connections_during_a_race_write_their_epochs() -> None:
    before = running(ANN, BEN)
    table = resumed(before, BEN)
    assert write_of(5, before, table).epochs == {BEN: 3}
    assert write_of(6, table, table).epochs == {}


def test_a_connection_of_a_player_who_does_not_race_writes_no_epoch() -> None:
    before = running(ANN, BEN)
    table = join(before, CLEO, "Cleo", 1, node=NODE, now=after(10_000)).table
    assert write_of(5, before, table).epochs == {}
    assert write_of(6, table, resumed(table, CLEO)).epochs == {}


@pytest.mark.parametrize("before", [seated(ANN, BEN), counting(ANN, BEN), over(ANN, BEN)])
def test_outside_a_race_epochs_fence_nothing(before: TableState) -> None:
    assert write_of(5, before, resumed(before, BEN)).epochs == {}


def test_a_result_is_written_with_the_table() -> None:
    finish = RaceFinish(race=1, record="the record", settlement=None)
    write = write_of(5, running(ANN, BEN), over(ANN, BEN), finish=finish)
    assert (write.finish, write.race) == (finish, 1)


def test_a_closed_table_is_marked_unless_a_countdown_has_begun_there() -> None:
    closed = close(seated(ANN), "The table was empty.", now=NOON, fresh_seed=OTHER_SEED).table
    write = write_of(5, seated(ANN), closed)
    assert (write.unraced, write.due) == (True, None)
    raced = close(over(ANN, BEN), "The table was empty.", now=NOON, fresh_seed=OTHER_SEED).table
    assert not write_of(5, over(ANN, BEN), raced).unraced
