"""Packing of tables into bytes, and unpacking them."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.tables import ANN, BEN, NOON, in_phase, over, seated
from saratoga_server.domain.tables import (
    TableOptions,
    TablePhase,
    TableSeat,
    TableState,
    unpack,
)
from saratoga_server.domain.tables import disconnect as lost
from saratoga_server.domain.tables.writes import pack


@pytest.mark.parametrize("phase", TablePhase)
def test_a_table_of_every_phase_comes_back_as_it_was(phase: TablePhase) -> None:
    table = in_phase(phase)
    assert unpack(pack(table)) == table
    assert pack(unpack(pack(table))) == pack(table)


def test_every_field_of_a_table_is_packed_and_unpacked() -> None:
    table = over(ANN, BEN)
    away = lost(table, BEN, 2, now=NOON)
    assert away is not None
    back = unpack(pack(away.table))
    assert back.outcome == table.outcome
    assert back.seats[1].absent_since == NOON


@given(
    name=st.text(max_size=20),
    numbers=st.tuples(*[st.integers(min_value=-(2**53), max_value=2**53)] * 4),
)
def test_every_field_of_a_seat_is_packed_and_unpacked(name: str, numbers: tuple[int, ...]) -> None:
    races, wins, net, last_id = numbers
    seat = TableSeat(player=ANN, name=name, races=races, wins=wins, net=net, last_id=last_id)
    table = TableState(
        code="mint-otter-42",
        settings=TableOptions(game="canfield"),
        created=NOON,
        touched=NOON,
        seats=(seat,),
    )
    assert unpack(pack(table)) == table


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
