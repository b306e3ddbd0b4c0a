"""Packing of tables into bytes that the store can read, and unpacking them."""

import os
import subprocess
import sys
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.server_process import python_path
from kit.tables import ANN, BEN, NOON, in_phase, of_unknown_game, over, seated
from saratoga_rules.games import RULES_VERSION
from saratoga_server.domain.tables import (
    TableOptions,
    TablePhase,
    TableSeat,
    TableState,
    public_view,
    unpack,
)
from saratoga_server.domain.tables import disconnect as lost
from saratoga_server.domain.tables.packing import NewerTable, pack
from saratoga_server.domain.tables.state import FORMAT


@pytest.mark.parametrize("phase", TablePhase)
def test_a_table_of_every_phase_comes_back_as_it_was(phase: TablePhase) -> None:
    table = in_phase(phase)
    assert unpack(pack(table)) == table
    assert pack(unpack(pack(table))) == pack(table)


def keeps_to_the_store(value: object) -> bool:
    """Return whether a value has only texts, booleans, numbers up to 2^53, and lists and maps of them."""
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


@pytest.mark.parametrize("phase", TablePhase)
def test_the_body_keeps_to_what_the_store_can_read(phase: TablePhase) -> None:
    assert keeps_to_the_store(msgpack.unpackb(pack(in_phase(phase))))


def over_in_a_match() -> TableState:
    return over(ANN, BEN, settings=TableOptions(game="canfield", races=3))


def test_a_match_is_packed_as_the_store_can_read_it() -> None:
    table = over_in_a_match()
    assert table.match is not None
    assert keeps_to_the_store(msgpack.unpackb(pack(table)))
    assert unpack(pack(table)) == table


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


def newer(table: TableState) -> dict[str, Any]:
    """Return the table as a newer node might write it, with unknown fields everywhere."""
    body: dict[str, Any] = msgpack.unpackb(pack(table))
    strange = {"weather": "fair", "winds": [1, {"north": 2}]}
    body |= strange
    body["settings"] |= strange
    body["seats"] = [seat | {"hat": seat["player"]} for seat in body["seats"]]
    if "outcome" in body:
        body["outcome"] |= {"applause": 3}
    if "match" in body:
        body["match"] |= {"cup": "tin"}
    return body


def test_fields_of_a_newer_node_survive_an_older_nodes_write() -> None:
    body = newer(over_in_a_match())
    known = unpack(msgpack.packb(body))
    away = lost(known, BEN, 2, now=NOON)
    assert away is not None
    written = msgpack.unpackb(pack(away.table))
    assert written["seats"][1].pop("absent_since") == NOON
    body["seats"][1].pop("node")
    assert {k: v for k, v in written.items() if k != "touched"} == {
        k: v for k, v in body.items() if k != "touched"
    }


def test_seat_fields_of_a_newer_node_are_removed_with_the_seat() -> None:
    known = unpack(msgpack.packb(newer(seated(ANN, BEN))))
    without = replace(known, seats=known.seats[:1])
    written = msgpack.unpackb(pack(without))
    assert [seat["hat"] for seat in written["seats"]] == [ANN]
    assert unpack(pack(without)).seats == known.seats[:1]


def test_strange_fields_change_nothing_that_this_node_knows() -> None:
    known = unpack(msgpack.packb(newer(seated(ANN))))
    assert replace(known, unknown={}) == seated(ANN)
    assert public_view(known, 1) == public_view(seated(ANN), 1)


def test_a_table_of_today_has_nothing_strange() -> None:
    for phase in TablePhase:
        assert unpack(pack(in_phase(phase))).unknown == {}


def test_a_table_of_a_game_that_this_node_does_not_know_is_not_read() -> None:
    with pytest.raises(NewerTable, match="'moonlight', which this node does not know"):
        unpack(of_unknown_game(pack(seated(ANN))))


@pytest.mark.parametrize(
    "fields", [{"format": FORMAT + 1}, {"rules_version": RULES_VERSION + 1}, {"format": 99, "x": 1}]
)
def test_a_table_that_would_be_misread_is_not_read(fields: dict[str, int]) -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    with pytest.raises(NewerTable):
        unpack(msgpack.packb(body | fields))


RAISED = """
import saratoga_rules.games as games

games.RULES_VERSION, games.RULES = 2, {1: games.GAMES, 2: games.GAMES}
from kit.tables import ANN, seated
from saratoga_server.domain.tables.packing import pack

print(pack(seated(ANN)).hex())
"""
"""A program of a release with another version of the rules; it prints a packed table."""


def test_a_table_of_newer_rules_says_so_and_is_not_read() -> None:
    path = {"PYTHONPATH": python_path()}
    run = subprocess.run(
        [sys.executable, "-c", RAISED], env=os.environ | path, check=True, capture_output=True
    )
    with pytest.raises(NewerTable, match="version 2 of the rules"):
        unpack(bytes.fromhex(run.stdout.decode()))


def test_a_race_of_older_rules_is_read() -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    assert unpack(msgpack.packb(body | {"rules_version": 1})).rules_version == 1


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b"\xc1", b"\x80", b"\x93\x01", pack(seated(ANN)) + b"\x00", b"\xc0"),
        *(msgpack.packb({name: "junk"}) for name in ("format", "rules_version", "seats")),
        msgpack.packb({"seats": [{"seat": 1}]}),
    ],
)
def test_other_bytes_are_no_table(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a packed table"):
        unpack(junk)
