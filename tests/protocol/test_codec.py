"""Frames: golden bytes, a second implementation, and frames of a hostile peer."""

import contextlib
import json
from typing import Any

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import golden
from kit.messages import COMMANDS, EVENTS
from saratoga_protocol.codec import CODECS, LONGEST_DETAIL, BadFrame, Codec, Frame, UnknownEvent
from saratoga_protocol.commands import Command, Heartbeat
from saratoga_protocol.events import Alive, Event, Refused
from saratoga_protocol.refusals import REASONS
from saratoga_protocol.version import JSON, LARGEST_NUMBER, MAX_COMMAND_BYTES, MSGPACK, SUBPROTOCOLS

BINARY, TEXT = CODECS[MSGPACK], CODECS[JSON]

every_codec = pytest.mark.parametrize("codec", [BINARY, TEXT], ids=[MSGPACK, JSON])
every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
every_event = pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)


def encode_without_msgspec(codec: Codec, value: object) -> Frame:
    """Encode a value without msgspec; return the frame."""
    return msgpack.packb(value) if codec is BINARY else json.dumps(value)


def decode_without_msgspec(codec: Codec, frame: Frame) -> Any:
    """Decode a frame without msgspec."""
    return msgpack.unpackb(frame) if codec is BINARY else json.loads(frame)


def fault(codec: Codec, frame: Frame) -> BadFrame:
    with pytest.raises(BadFrame) as caught:
        codec.decode_command(frame)
    return caught.value


# Frames of every message


def test_there_is_a_codec_for_every_subprotocol() -> None:
    assert tuple(CODECS) == SUBPROTOCOLS
    assert all(codec.subprotocol == name for name, codec in CODECS.items())


@pytest.mark.parametrize(
    ("file", "text"), [("commands.txt", golden.command_text), ("events.txt", golden.event_text)]
)
def test_frames_equal_the_golden_bytes(file: str, text: Any) -> None:
    assert text() == (golden.FOLDER / file).read_text(encoding="utf-8")


@every_codec
@every_command
def test_a_command_survives_encoding_and_decoding(codec: Codec, command: Command) -> None:
    assert codec.decode_command(codec.encode(command)) == command


@every_codec
@every_event
def test_an_event_survives_encoding_and_decoding(codec: Codec, event: Event) -> None:
    assert codec.decode_event(codec.encode(event)) == event


@every_codec
@every_command
def test_other_programs_read_and_write_the_same_commands(codec: Codec, command: Command) -> None:
    fields = msgspec.to_builtins(command)
    assert decode_without_msgspec(codec, codec.encode(command)) == fields
    assert codec.decode_command(encode_without_msgspec(codec, fields)) == command


@every_codec
@every_event
def test_other_programs_read_and_write_the_same_events(codec: Codec, event: Event) -> None:
    fields = msgspec.to_builtins(event)
    assert decode_without_msgspec(codec, codec.encode(event)) == fields
    assert codec.decode_event(encode_without_msgspec(codec, fields)) == event


@every_command
def test_the_msgpack_package_packs_the_same_bytes(command: Command) -> None:
    assert BINARY.encode(command) == msgpack.packb(msgspec.to_builtins(command))


@every_event
def test_the_msgpack_package_packs_the_same_bytes_of_events(event: Event) -> None:
    # msgspec writes the length of a map of a large struct in three bytes, even if one would do
    packed = msgpack.packb(msgpack.unpackb(BINARY.encode(event)))
    assert packed == msgpack.packb(msgspec.to_builtins(event))


@every_command
def test_every_command_fits_a_frame(command: Command) -> None:
    assert len(TEXT.encode(command).encode()) < MAX_COMMAND_BYTES  # type: ignore[union-attr]


@every_codec
@every_command
def test_fields_may_be_in_any_order(codec: Codec, command: Command) -> None:
    fields = dict(reversed(msgspec.to_builtins(command).items()))
    assert codec.decode_command(encode_without_msgspec(codec, fields)) == command


# Faults and their codes


@every_codec
@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"type": "move", "id": 7, "race": "mint-otter-42/3", "after": 0, "move": 5}, "$.move: "),
        ({"type": "move", "id": 7, "race": "mint-otter-42/3", "after": -1, "move": "draw"}, ">= 0"),
        ({"type": "move", "id": 7, "race": "mint-otter-42/3", "after": 0}, "field move"),
        ({"type": "move", "id": 7, "race": "m" * 36, "after": 0, "move": "w>up"}, "$.race: "),
        ({"type": "cash_out", "id": 7, "race": "../../../etc"}, "$.race: "),
        ({"type": "cash_out", "id": 7, "race": "mint-otter-42/3\n"}, "$.race"),
        ({"type": "claim_name", "id": 7, "name": ""}, "$.name: "),
        ({"type": "claim_name", "id": 7, "name": "x" * 65}, "$.name: "),
        ({"type": "create_table", "id": 7, "game": "canfield", "cap": 21}, "$.cap: "),
        ({"type": "create_table", "id": 7, "game": "canfield", "seats": 17}, "$.seats: "),
        ({"type": "create_table", "id": 7, "game": "canfield", "seats": True}, "$.seats: "),
        ({"type": "create_table", "id": 7, "game": "canfield", "public": 1}, "$.public: "),
        ({"type": "heartbeat", "id": 7, "please": True}, "unknown field please"),
        ({"type": "fly", "id": 7}, "fly"),
        ({"id": 7}, "field type"),
    ],
)
def test_a_refusal_names_the_fault_and_the_command(
    codec: Codec, fields: dict[str, object], detail: str
) -> None:
    found = fault(codec, encode_without_msgspec(codec, fields))
    assert found.code == "bad_command"
    assert detail in found.detail
    assert found.re == 7


@every_codec
@pytest.mark.parametrize(
    "command_id", [0, -1, LARGEST_NUMBER + 1, 2**64 - 1, 1.5, 1.0, True, "1", None, [1], {}]
)
def test_a_refusal_does_not_answer_an_invalid_id(codec: Codec, command_id: object) -> None:
    found = fault(codec, encode_without_msgspec(codec, {"type": "heartbeat", "id": command_id}))
    assert (found.code, found.re) == ("bad_command", None)


@every_codec
@pytest.mark.parametrize("value", [None, True, 5, "move", [], [1, 2], {}, {"type": "heartbeat"}])
def test_an_unreadable_frame_and_an_unknown_command_have_different_codes(
    codec: Codec, value: object
) -> None:
    assert fault(codec, encode_without_msgspec(codec, value)).code == "bad_command"


def test_the_other_kind_of_frame_is_named() -> None:
    assert fault(BINARY, '{"type":"heartbeat","id":1}').code == "wrong_frame_kind"
    assert fault(TEXT, b"\x82").code == "wrong_frame_kind"
    for codec, frame in ((BINARY, "{}"), (TEXT, b"\x80")):
        with pytest.raises(BadFrame, match="wrong_frame_kind"):
            codec.decode_event(frame)


@pytest.mark.parametrize(
    ("codec", "frame"),
    [
        (BINARY, b""),
        (BINARY, b"\xc1"),
        (BINARY, b"\x81\xa4type"),
        (BINARY, b"\xdd\xff\xff\xff\xff"),
        (BINARY, b"\xdf\xff\xff\xff\xff"),
        (BINARY, b"\xdb\xff\xff\xff\xff"),
        (BINARY, b"\x82\xa4type\xa9heartbeat\xa2id\x01\x00"),
        (BINARY, b"\x83\xa4type\xaaclaim_name\xa2id\x01\xa4name\xa2\xff\xfe"),
        (BINARY, b"\x82\xa4type\xa2\xff\xfe\xa2id\x01"),
        (BINARY, b"\x81\xa1a" * 3000),
        (TEXT, ""),
        (TEXT, "{"),
        (TEXT, "nonsense"),
        (TEXT, '{"type":"heartbeat","id":1}{}'),
        (TEXT, '{"type":"claim_name","id":1,"name":"\ud800"}'),
        (TEXT, '{"type":"claim_name","id":1,"name":"\\ud800"}'),
        (TEXT, '{"a":' * 5000),
    ],
)
def test_an_unreadable_frame_is_refused_with_a_sentence(codec: Codec, frame: Frame) -> None:
    found = fault(codec, frame)
    assert found.code in ("bad_frame", "bad_command")
    assert found.detail.endswith(".")


@pytest.mark.parametrize(
    ("codec", "frame"),
    [
        (TEXT, '{"type":"heartbeat","id":' + "9" * 8000 + "}"),
        (TEXT, '{"type":"heartbeat","id":1e9999}'),
        (TEXT, '{"type":"heartbeat","id":-' + "1" * 500 + "}"),
        (BINARY, b"\x82\xa4type\xa9heartbeat\xa2id\xcf" + b"\xff" * 8),
        (BINARY, b"\x82\xa4type\xa9heartbeat\xa2id\xd3\x80" + b"\x00" * 7),
        (BINARY, b"\x82\xa4type\xa9heartbeat\xa2id\xcb\x7f\xf8" + b"\x00" * 6),
        (BINARY, b"\x82\xa4type\xa9heartbeat\xa2id\xc7\x08\xff12345678"),
        (BINARY, b"\x82\xa4type\xa9heartbeat\xa2id\xc4\x01\x01"),
    ],
)
def test_numbers_out_of_all_bounds_are_refused(codec: Codec, frame: Frame) -> None:
    assert fault(codec, frame).code == "bad_command"


@every_codec
def test_the_description_of_a_fault_has_a_limited_length(codec: Codec) -> None:
    found = fault(codec, encode_without_msgspec(codec, {"type": "x" * 8000, "id": 1}))
    assert len(found.detail) < LONGEST_DETAIL + 10


@every_codec
def test_a_fault_never_shows_a_token(codec: Codec) -> None:
    secret = "5a" * 40
    found = fault(codec, encode_without_msgspec(codec, {"type": "hello", "id": 1, "token": secret}))
    assert "5a5a" not in f"{found} {found.detail}"


def test_every_code_of_a_fault_is_on_the_list_of_refusals() -> None:
    assert {"bad_frame", "bad_command", "wrong_frame_kind"} <= REASONS.keys()


# Random input

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
packed_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers(0, 9) | st.binary(max_size=4), inner, max_size=4)
    ),
)
fields_of_a_command = st.sampled_from(
    [msgspec.to_builtins(command) for command in COMMANDS.values()]
)


def reads_as_a_command_or_is_bad(codec: Codec, frame: Frame) -> None:
    try:
        command = codec.decode_command(frame)
    except BadFrame as bad:
        code, re = bad.code, bad.re
    else:
        assert codec.decode_command(codec.encode(command)) == command
        return
    assert code in REASONS
    assert re is None or 1 <= re <= LARGEST_NUMBER


def reads_as_an_event_or_is_bad(codec: Codec, frame: Frame) -> None:
    with contextlib.suppress(BadFrame):
        codec.decode_event(frame)


@given(st.binary(max_size=300))
def test_junk_bytes_raise_bad_frame_only(frame: bytes) -> None:
    reads_as_a_command_or_is_bad(BINARY, frame)
    reads_as_an_event_or_is_bad(BINARY, frame)


@given(st.text(max_size=300))
def test_junk_text_raises_bad_frame_only(frame: str) -> None:
    reads_as_a_command_or_is_bad(TEXT, frame)
    reads_as_an_event_or_is_bad(TEXT, frame)


@given(packed_values)
def test_any_packed_value_raises_bad_frame_only(value: object) -> None:
    frame = msgpack.packb(value)
    reads_as_a_command_or_is_bad(BINARY, frame)
    reads_as_an_event_or_is_bad(BINARY, frame)


@given(json_values)
def test_any_json_value_raises_bad_frame_only(value: object) -> None:
    frame = json.dumps(value)
    reads_as_a_command_or_is_bad(TEXT, frame)
    reads_as_an_event_or_is_bad(TEXT, frame)


@given(fields_of_a_command, st.data())
def test_a_command_with_one_invalid_field_is_refused_or_still_a_command(
    fields: dict[str, object], data: st.DataObject
) -> None:
    spoilt = {**fields, data.draw(st.sampled_from(sorted(fields))): data.draw(json_values)}
    reads_as_a_command_or_is_bad(TEXT, json.dumps(spoilt))


@given(fields_of_a_command, st.data())
def test_a_packed_command_with_one_invalid_field_is_refused_or_still_a_command(
    fields: dict[str, object], data: st.DataObject
) -> None:
    spoilt = {**fields, data.draw(st.sampled_from(sorted(fields))): data.draw(packed_values)}
    reads_as_a_command_or_is_bad(BINARY, msgpack.packb(spoilt))


@given(st.sampled_from(list(COMMANDS.values())), st.data())
def test_a_truncated_frame_is_refused(command: Command, data: st.DataObject) -> None:
    for codec in (BINARY, TEXT):
        frame = codec.encode(command)
        at = data.draw(st.integers(0, len(frame) - 1))
        assert fault(codec, frame[:at]).code in ("bad_frame", "bad_command")


@given(st.sampled_from(list(COMMANDS.values())), st.data())
def test_a_frame_with_a_flipped_bit_is_refused_or_still_a_command(
    command: Command, data: st.DataObject
) -> None:
    frame = bytearray(BINARY.encode(command))  # type: ignore[arg-type]
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    reads_as_a_command_or_is_bad(BINARY, bytes(frame))


# Compatibility with a newer server


@every_codec
@every_event
def test_fields_of_a_newer_server_are_skipped(codec: Codec, event: Event) -> None:
    fields = {**msgspec.to_builtins(event), "zeal": {"deep": [1, {}]}}
    assert codec.decode_event(encode_without_msgspec(codec, fields)) == event


@every_codec
def test_an_event_of_a_newer_server_is_an_unknown_event(codec: Codec) -> None:
    frame = encode_without_msgspec(codec, {"type": "fireworks", "re": 7, "colour": "red"})
    assert codec.decode_event(frame) == UnknownEvent(type="fireworks", re=7)


@every_codec
@pytest.mark.parametrize(
    "fields", [{"type": "alive"}, {"type": "alive", "now": "noon"}, {"re": 7}, {"type": 5}, []]
)
def test_an_invalid_event_raises_bad_frame(codec: Codec, fields: object) -> None:
    with pytest.raises(BadFrame):
        codec.decode_event(encode_without_msgspec(codec, fields))


@every_codec
def test_fields_at_their_defaults_are_left_out(codec: Codec) -> None:
    assert decode_without_msgspec(codec, codec.encode(Alive(now=5))) == {
        "type": "alive",
        "now": 5,
    }
    assert decode_without_msgspec(codec, codec.encode(Heartbeat(id=5))) == {
        "type": "heartbeat",
        "id": 5,
    }
    no = Refused(code="bad_frame", message="No.")
    assert decode_without_msgspec(codec, codec.encode(no)).keys() == {
        "type",
        "code",
        "message",
    }
