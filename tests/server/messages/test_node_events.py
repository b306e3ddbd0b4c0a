"""What nodes tell each other."""

import msgpack
import msgspec
import pytest

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
    StoodAt,
    TableClosedByAdmin,
    Touched,
    decode_node_event,
    encode_node_event,
)

EVERY = [
    Here("node-1", 1),
    Touched("mint-otter-42", 7),
    Stood("node-1", {"mint-otter-42/3": [StoodAt("p" * 16, 12, 5, "racing", -1, 0)]}),
    Settled(["canfield"]),
    Announce("The house restarts at ten."),
    TableClosedByAdmin("mint-otter-42", "closed by the host of this server"),
    Banned("p" * 16),
    Renamed("p" * 16, "Zoë"),
    Forgotten("p" * 16),
    RaceVoided("mint-otter-42/3", "canfield"),
]


@pytest.mark.parametrize("event", EVERY)
def test_a_nudge_arrives_as_it_was_sent(event: NodeEvent) -> None:
    assert decode_node_event(encode_node_event(event)) == event


@pytest.mark.parametrize("event", EVERY)
def test_another_reader_of_msgpack_finds_the_kind(event: NodeEvent) -> None:
    assert msgpack.unpackb(encode_node_event(event)) == msgspec.to_builtins(event)
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
def test_junk_on_the_channel_is_one_exception(junk: bytes) -> None:
    with pytest.raises(BadNodeEvent):
        decode_node_event(junk)


def test_a_field_of_a_newer_node_is_passed_over() -> None:
    payload = msgpack.packb({"kind": "announce", "text": "hello", "loud": True})
    assert decode_node_event(payload) == Announce("hello")
