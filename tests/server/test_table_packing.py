"""Tables to bytes and back, by the store's rules."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.tables import ANN, BEN, NOON, in_phase, over, seated
from saratoga_server.table import Phase, Seat, Settings, TableState, pack, unpack
from saratoga_server.table import disconnect as lost


@pytest.mark.parametrize("phase", Phase)
def test_a_table_of_every_phase_comes_back_as_it_was(phase: Phase) -> None:
    table = in_phase(phase)
    assert unpack(pack(table)) == table
    assert pack(unpack(pack(table))) == pack(table)


def keeps_to_the_store(value: object) -> bool:
    """Texts, truth, numbers up to 2^53, lists and maps of them; no nil, no bytes."""
    match value:
        case bool() | str():
            return True
        case int():
            return abs(value) <= 2**53
        case list():
            return all(map(keeps_to_the_store, value))
        case dict():
            return all(isinstance(key, str) for key in value) and all(
                map(keeps_to_the_store, value.values())
            )
        case _:
            return False


@pytest.mark.parametrize("phase", Phase)
def test_the_body_keeps_to_what_the_store_can_read(phase: Phase) -> None:
    assert keeps_to_the_store(msgpack.unpackb(pack(in_phase(phase))))


def test_nothing_of_a_table_is_forgotten() -> None:
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
def test_whatever_stands_in_a_seat_comes_back(name: str, numbers: tuple[int, ...]) -> None:
    races, wins, net, last_id = numbers
    seat = Seat(player=ANN, name=name, races=races, wins=wins, net=net, last_id=last_id)
    table = TableState(
        code="mint-otter-42",
        settings=Settings(game="canfield"),
        created=NOON,
        touched=NOON,
        seats=(seat,),
        departed={name: last_id},
    )
    assert unpack(pack(table)) == table


def test_fields_of_a_newer_house_are_passed_over() -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    assert unpack(msgpack.packb(body | {"weather": "fair"})) == seated(ANN)


@pytest.mark.parametrize(
    "junk", [b"", b"\xc1", b"\x80", b"\x93\x01", pack(seated(ANN)) + b"\x00", b"\xc0"]
)
def test_other_bytes_are_no_table(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a packed table"):
        unpack(junk)
