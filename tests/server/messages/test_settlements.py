"""Settlements as bytes in the outbox."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_server.messages.settlements import pack_settlement, unpack_settlement
from saratoga_server.ports import Millis, SettledResult, Settlement

results = st.builds(
    SettledResult,
    player=st.text(max_size=16),
    bot=st.booleans(),
    banked=st.integers(0, 104),
    net=st.integers(-100, 420),
    elapsed=st.integers(0, 2**40),
)
settlements = st.builds(
    Settlement,
    race=st.text(max_size=30),
    game=st.text(max_size=20),
    start_at=st.integers(0, 2**45).map(Millis),
    results=st.lists(results, max_size=16).map(tuple),
)


@given(settlements)
def test_a_settlement_comes_back_as_it_went(settlement: Settlement) -> None:
    assert unpack_settlement(pack_settlement(settlement)) == settlement


@given(settlements)
def test_what_a_newer_house_adds_is_passed_over(settlement: Settlement) -> None:
    race, game, start_at, results = msgpack.unpackb(pack_settlement(settlement))
    longer = [race, game, start_at, [[*each, "hat"] for each in results], "weather"]
    assert unpack_settlement(msgpack.packb(longer)) == settlement


@pytest.mark.parametrize("junk", [b"", b"\xc1", b"\x93", msgpack.packb([1, 2]), msgpack.packb(7)])
def test_anything_else_is_a_value_error(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a settlement"):
        unpack_settlement(junk)
