"""Settlements as bytes in the outbox."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_protocol.events import Result
from saratoga_server.leaderboard_port import Settlement, pack_settlement, unpack_settlement
from saratoga_server.ports import Millis

results = st.builds(
    Result,
    player=st.text(max_size=16),
    name=st.text(max_size=16),
    place=st.integers(1, 16),
    banked=st.integers(0, 104),
    net=st.integers(-100, 420),
    state=st.sampled_from(["won", "cashed out", "left"]),
    moves=st.integers(0, 5000),
    bot=st.booleans(),
    reached=st.none() | st.integers(0, 2**40),
    ended=st.integers(0, 2**40),
    tie=st.text(max_size=16),
)
settlements = st.builds(
    Settlement,
    race=st.text(max_size=30),
    game=st.text(max_size=20),
    start_at=st.integers(0, 2**45).map(Millis),
    results=st.lists(results, max_size=16).map(tuple),
)


@given(settlements)
def test_a_settlement_is_unpacked_as_it_was_packed(settlement: Settlement) -> None:
    assert unpack_settlement(pack_settlement(settlement)) == settlement


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\xc1",
        b"\x93",
        msgpack.packb([1, 2]),
        msgpack.packb(7),
        msgpack.packb({"race": "mint-otter-42/1"}),
        b"\x81\xa4race\xa1\xff",
        b"\x91" * 5000,
    ],
)
def test_anything_else_is_a_value_error(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a settlement"):
        unpack_settlement(junk)
