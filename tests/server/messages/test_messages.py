"""What is packed for the store and for other nodes, and what else is refused."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.stores import StoreServer
from saratoga_server.messages.node_events import (
    Announce,
    BadNodeEvent,
    Here,
    NodeEvent,
    PlayerChanged,
    Settled,
    Stood,
    StoodRow,
    Touched,
    decode_node_event,
    encode_node_event,
)
from saratoga_server.messages.packing import pack, unpack
from saratoga_server.store.opening import open_store

# Node events, encoded and decoded


RACER = StoodRow("mint-otter-42/3", "p" * 16, 12, 5, "racing", "0" * 16, 4321, 7)

EVERY = [
    Here("node-1", 1),
    Touched("mint-otter-42", 7),
    Stood([RACER]),
    Settled("canfield"),
    Announce("The house restarts at ten."),
    PlayerChanged("p" * 16, is_deleted=True),
]


@pytest.mark.parametrize("event", EVERY)
def test_an_event_arrives_as_it_was_sent(event: NodeEvent) -> None:
    assert decode_node_event(encode_node_event(event)) == event


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\xc1",
        b"event",
        b"\x91" * 100_000,
        msgpack.packb({"kind": "brew", "tea": True}),
        msgpack.packb({"kind": "player", "player": 7}),
        msgpack.packb({"kind": "announce", "text": b"\xff"}),
        msgpack.packb(["announce"]),
    ],
)
def test_anything_else_on_the_channel_raises_one_exception(junk: bytes) -> None:
    with pytest.raises(BadNodeEvent):
        decode_node_event(junk)


# Values that are packed for the store and unpacked again


PLAIN = st.recursive(
    st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(PLAIN)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    assert unpack(pack(value)) == value


@pytest.mark.parametrize("junk", [b"", b"\xc1", b"\x92\x01", b"\xa5mint", b"\x01\x02"])
def test_what_is_no_messagepack_is_a_value_error(junk: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are the library's
        unpack(junk)


async def test_the_stores_own_reader_understands_every_kind(store_server: StoreServer) -> None:
    value = [True, False, 0, -1, 2**53 - 1, "", "Zoë", "x" * 300, [[], [1, [2]]], {"a": 1}]
    echo = "return cmsgpack.pack(cmsgpack.unpack(ARGV[1]))"
    async with open_store(store_server.url) as store:
        back = await store.client.command("EVAL", echo, 0, pack(value))
    # the store does not distinguish an empty map from an empty list
    assert unpack(back) == value
