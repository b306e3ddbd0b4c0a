"""What a node knows of a table."""

import msgpack
import pytest
from msgspec.structs import replace

from kit.tables import ANN, BEN, CODE, seated
from saratoga_server.domain.tables import Refusal, pack
from saratoga_server.domain.tables.state import FORMAT
from saratoga_server.live.live_table import Known, LiveTable, read_table


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_what_is_to_be_followed_up_begins_at_the_oldest_version(order: tuple[int, int]) -> None:
    known = {1: Known(1, seated(ANN)), 2: Known(2, seated(ANN, BEN))}
    live_table = LiveTable(CODE, 3, replace(seated(ANN, BEN), notice="third"))
    for version in order:
        live_table.falls_behind(known[version])
    assert live_table.behind is known[1]


def test_a_picture_names_its_version_and_no_secret() -> None:
    state = seated(ANN)
    picture = LiveTable(CODE, 7, state).picture()
    assert (picture.code, picture.version) == (CODE, 7)
    assert state.seed not in repr(picture)


def test_a_table_is_read_unless_it_is_for_newer_nodes() -> None:
    state = seated(ANN)
    body = pack(state)
    assert read_table(body) == state
    newer = msgpack.packb(msgpack.unpackb(body) | {"format": FORMAT + 1})
    with pytest.raises(Refusal, match="draining"):
        read_table(newer)
