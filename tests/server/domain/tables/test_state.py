"""The state of a table: its racers, names and seats, and changes that follow one another."""

from msgspec.structs import replace

from kit.tables import ANN, BEN, NOON, running, seated
from saratoga_server.domain.tables import Change
from saratoga_server.domain.tables.state import (
    ACCEPTED_KEPT,
    BoardsDue,
    RaceStarted,
    TablePhase,
)


def test_a_racer_who_has_left_the_race_is_not_racing() -> None:
    table = running(ANN, BEN)
    assert table.is_racing(ANN)
    assert not replace(table, left=(ANN,)).is_racing(ANN)
    assert not replace(table, phase=TablePhase.OVER).is_racing(ANN)


def test_the_racers_whose_nonce_is_missing_are_named() -> None:
    table = replace(running(ANN, BEN), nonces={BEN: "00" * 16})
    assert table.missing == (ANN,)


def test_a_racer_who_is_gone_keeps_the_name() -> None:
    table = running(ANN, BEN)
    gone = replace(table, seats=(), racer_names={ANN: "Ann"})
    assert (table.name(BEN), gone.name(ANN), gone.name(BEN)) == (
        table.seat(BEN).name,  # type: ignore[union-attr]
        "Ann",
        BEN,
    )


def test_a_seat_replaces_the_players_old_one_and_no_other() -> None:
    table = seated(ANN, BEN)
    old, other = table.seats
    changed = table.with_seat(replace(old, races=3))
    assert changed.seats == (replace(old, races=3), other)


def test_a_seat_keeps_only_the_newest_accepted_ids() -> None:
    seat = seated(ANN).seats[0]
    for number in range(1, ACCEPTED_KEPT + 3):
        seat = seat.with_accepted(number, NOON)
    assert seat.last_id == seat.accepted[-1] == ACCEPTED_KEPT + 2
    assert len(seat.accepted) == ACCEPTED_KEPT


def test_a_change_that_follows_another_has_the_effects_of_both_in_order() -> None:
    first = Change(seated(ANN), (RaceStarted(),))
    assert first.then(Change(seated(BEN), (BoardsDue(),))) == Change(
        seated(BEN), (RaceStarted(), BoardsDue())
    )
