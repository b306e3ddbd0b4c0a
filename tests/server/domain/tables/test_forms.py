"""A table as bytes, as the writes of a change, and as the public sees it."""

import msgpack
import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CODE,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_ready,
    all_shown,
    counting,
    in_phase,
    nonce_hash,
    over,
    running,
    seated,
)
from saratoga_protocol import events
from saratoga_server.domain.tables import (
    TablePhase,
    TableState,
    close,
    disconnect,
    due,
    elapse,
    leave,
    public_view,
    rename,
    resume,
    unpack,
)
from saratoga_server.domain.tables.writes import pack, starts, write_of
from saratoga_server.ports import RaceOpening

# Packing of tables into bytes, and unpacking them


def test_a_table_of_an_unknown_game_is_not_read() -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    body["settings"]["game"] = "moonlight"
    with pytest.raises(ValueError, match="does not know the game 'moonlight'"):
        unpack(msgpack.packb(body))


def test_a_race_of_older_rules_is_read() -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    assert unpack(msgpack.packb(body | {"rules_version": 1})).rules_version == 1


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b"\xc1", b"\x80", b"\x93\x01", pack(seated(ANN)) + b"\x00", b"\xc0"),
        *(msgpack.packb({name: "junk"}) for name in ("rules_version", "seats")),
        msgpack.packb({"seats": [{"seat": 1}]}),
    ],
)
def test_other_bytes_are_no_table(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a packed table"):
        unpack(junk)


# The writes of a change of a table: its timer, its new boards, their epochs and the result


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


@pytest.mark.parametrize("before", [seated(ANN, BEN), counting(ANN, BEN), over(ANN, BEN)])
def test_outside_a_race_epochs_fence_nothing(before: TableState) -> None:
    assert write_of(5, before, resumed(before, BEN)).epochs == {}


def test_a_closed_table_is_marked_unless_a_countdown_has_begun_there() -> None:
    closed = close(seated(ANN), "The table was empty.", now=NOON, fresh_seed=OTHER_SEED).table
    write = write_of(5, seated(ANN), closed)
    assert (write.unraced, write.due) == (True, None)
    raced = close(over(ANN, BEN), "The table was empty.", now=NOON, fresh_seed=OTHER_SEED).table
    assert not write_of(5, over(ANN, BEN), raced).unraced


# The public view of a table shows everything but secrets


def test_the_picture_of_a_gathering_table() -> None:
    table = all_ready(seated(ANN, BEN), BEN)
    gone = disconnect(table, ANN, 1, now=NOON)
    assert gone is not None
    assert public_view(gone.table, 7) == events.Table(
        code="mint-otter-42",
        version=7,
        host=ANN,
        phase="gathering",
        settings=events.TableSettings(game="canfield", cap=10, seats=16, public=False),
        race="mint-otter-42/1",
        rules=table.rules_version,
        commitment=table.commitment,
        seats=[
            events.Seat(player=ANN, name="Ann", connected=False, epoch=1),
            events.Seat(player=BEN, name="Ben", ready=True, epoch=2),
        ],
    )


def test_a_racer_who_gave_up_the_seat_and_one_with_a_new_name_stay_in_the_race_as_they_were() -> (
    None
):
    table = running(ANN, BEN)
    named = rename(table, ANN, "Anne")
    assert named is not None
    gone = leave(named.table, BEN, 9, now=NOON, fresh_seed=bytes(32)).table
    shown = public_view(gone, 2)
    assert [(seat.player, seat.name) for seat in shown.seats] == [(ANN, "Anne")]
    assert shown.racers == [
        events.Racer(player=ANN, name="Ann", nonce_hash=nonce_hash(ANN)),
        events.Racer(player=BEN, name="Ben", nonce_hash=nonce_hash(BEN)),
    ]
