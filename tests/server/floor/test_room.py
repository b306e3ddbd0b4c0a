"""What a node knows of a table."""

import msgpack
import pytest
from msgspec.structs import replace

from kit.tables import ANN, BEN, CODE, seated
from saratoga_server.floor.room import Known, Room, read_table
from saratoga_server.table import Refusal, pack
from saratoga_server.table.state import FORMAT


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_what_is_to_be_followed_up_begins_at_the_oldest_version(order: tuple[int, int]) -> None:
    known = {1: Known(1, seated(ANN)), 2: Known(2, seated(ANN, BEN))}
    room = Room(CODE, 3, replace(seated(ANN, BEN), notice="third"))
    for version in order:
        room.falls_behind(known[version])
    assert room.behind is known[1]


def test_a_picture_names_its_version_and_no_secret() -> None:
    state = seated(ANN)
    picture = Room(CODE, 7, state).picture()
    assert (picture.code, picture.version) == (CODE, 7)
    assert state.seed not in repr(picture)


def test_a_table_is_read_unless_it_is_for_newer_nodes() -> None:
    state = seated(ANN)
    body = pack(state)
    assert read_table(body) == state
    newer = msgpack.packb(msgpack.unpackb(body) | {"format": FORMAT + 1})
    with pytest.raises(Refusal, match="draining"):
        read_table(newer)
