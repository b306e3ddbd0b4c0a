"""Node events, encoded and decoded."""

import msgpack
import msgspec
import pytest

from saratoga_rules.records.standing import Reached, State
from saratoga_server.messages.node_events import (
    Announce,
    BadNodeEvent,
    Banned,
    Forgotten,
    Here,
    NodeEvent,
    RaceVoided,
    Renamed,
    Settled,
    Stood,
    TableClosedByAdmin,
    Touched,
    decode_node_event,
    encode_node_event,
)
from saratoga_server.ports import LiveStanding

RACER = {"p" * 16: LiveStanding(12, 5, State.RACING, Reached(4321, 7))}

EVERY = [
    Here("node-1", 1),
    Touched("mint-otter-42", 7),
    Stood("node-1", {"mint-otter-42/3": RACER}),
    Settled(["canfield"]),
    Announce("The house restarts at ten."),
    TableClosedByAdmin("mint-otter-42", "closed by the host of this server"),
    Banned("p" * 16),
    Renamed("p" * 16, "Zoë"),
    Forgotten("p" * 16),
    RaceVoided("mint-otter-42/3", "canfield"),
]


@pytest.mark.parametrize("event", EVERY)
def test_an_event_arrives_as_it_was_sent(event: NodeEvent) -> None:
    assert decode_node_event(encode_node_event(event)) == event


@pytest.mark.parametrize("event", EVERY)
def test_another_reader_of_msgpack_finds_the_kind(event: NodeEvent) -> None:
    fields = msgpack.unpackb(encode_node_event(event))
    assert fields == msgspec.json.decode(msgspec.json.encode(event))
    assert msgpack.unpackb(encode_node_event(event))["kind"] == event.__struct_config__.tag


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\xc1",
        b"event",
        b"\x91" * 100_000,
        msgpack.packb({"kind": "brew", "tea": True}),
        msgpack.packb({"kind": "ban", "player": 7}),
        msgpack.packb({"kind": "announce", "text": b"\xff"}),
        msgpack.packb(["announce"]),
    ],
)
def test_anything_else_on_the_channel_raises_one_exception(junk: bytes) -> None:
    with pytest.raises(BadNodeEvent):
        decode_node_event(junk)
