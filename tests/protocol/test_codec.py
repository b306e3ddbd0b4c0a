"""Frames and kinds: golden bytes, a second implementation, frames of a hostile peer, bounds, and what views hide.

`tests/hostile/test_decoder.py` decodes thousands of spoilt commands.
"""

import contextlib
import json
from collections.abc import Mapping
from typing import Any, Final

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.messages import COMMANDS, EVENTS, FOLDER
from kit.positions import Step, draw, steps
from saratoga_protocol import commands, events
from saratoga_protocol.codec import (
    CODECS,
    JSON,
    LONGEST_DETAIL,
    MAX_COMMAND_BYTES,
    MSGPACK,
    BadFrame,
    Codec,
    Frame,
)
from saratoga_protocol.commands import LARGEST_NUMBER, Command
from saratoga_protocol.events import BoardChanged, BoardView, Event
from saratoga_protocol.views import rules_view, wire_view
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.position import redact

GOLDEN: Final[Mapping[str, Mapping[str, Any]]] = {"commands.txt": COMMANDS, "events.txt": EVENTS}
"""The files of golden bytes. Below the name and the JSON of a new message, `PYTHONPATH=tests python
-m protocol.test_codec` writes its MessagePack. Every byte that changes breaks the protocol for
existing clients.
"""
BINARY, TEXT = CODECS[MSGPACK], CODECS[JSON]

every_codec = pytest.mark.parametrize("codec", [BINARY, TEXT], ids=[MSGPACK, JSON])
every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
every_event = pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)


def written_elsewhere(codec: Codec, value: object) -> Frame:
    """Return the frame that a program without msgspec writes."""
    return msgpack.packb(value) if codec is BINARY else json.dumps(value)


def read_elsewhere(codec: Codec, frame: Frame) -> Any:
    """Return what a program without msgspec reads."""
    return msgpack.unpackb(frame) if codec is BINARY else json.loads(frame)


def fault(codec: Codec, frame: Frame) -> BadFrame:
    with pytest.raises(BadFrame) as caught:
        codec.decode_command(frame)
    return caught.value


def golden_text(messages: Mapping[str, Any]) -> str:
    """Return the golden text of all messages: JSON, then MessagePack with 32 bytes on a line."""
    lines = []
    for name, message in messages.items():
        packed = BINARY.encode(message)
        assert isinstance(packed, bytes)
        parts = [f"    {packed[at : at + 32].hex()}" for at in range(0, len(packed), 32)]
        lines += [f"# {name}", str(TEXT.encode(message)), *parts, ""]
    return "\n".join(lines)


@pytest.mark.parametrize("file", GOLDEN)
def test_frames_equal_the_golden_bytes(file: str) -> None:
    assert golden_text(GOLDEN[file]) == (FOLDER / file).read_text(encoding="utf-8")


@every_codec
@every_command
def test_other_programs_exchange_commands_with_fields_in_any_order(
    codec: Codec, command: Command
) -> None:
    fields = msgspec.to_builtins(command)
    assert read_elsewhere(codec, codec.encode(command)) == fields
    backwards = dict(reversed(fields.items()))
    assert codec.decode_command(written_elsewhere(codec, backwards)) == command
    assert len(codec.encode(command)) < MAX_COMMAND_BYTES


@every_codec
@every_event
def test_other_programs_exchange_events_and_a_newer_server_s_fields_are_skipped(
    codec: Codec, event: Event
) -> None:
    fields = msgspec.to_builtins(event)
    assert read_elsewhere(codec, codec.encode(event)) == fields
    newer = {"zeal": {"deep": [1, {}]}, **fields}
    assert codec.decode_event(written_elsewhere(codec, newer)) == event


@every_codec
def test_an_event_of_an_unknown_kind_keeps_the_id_of_its_command(codec: Codec) -> None:
    frame = written_elsewhere(codec, {"type": "fireworks", "re": 7, "colour": "red"})
    assert codec.decode_event(frame) == Event(re=7)


@every_codec
@pytest.mark.parametrize(
    "fields", [{"type": "alive"}, {"type": "alive", "now": "noon"}, {"re": 7}, {"type": 5}, []]
)
def test_an_invalid_event_raises_bad_frame(codec: Codec, fields: object) -> None:
    with pytest.raises(BadFrame):
        codec.decode_event(written_elsewhere(codec, fields))


@given(st.binary(max_size=300), st.text(max_size=300))
def test_junk_raises_no_other_error_than_bad_frame(packed: bytes, text: str) -> None:
    for codec, frame in ((BINARY, packed), (TEXT, text)):
        with contextlib.suppress(BadFrame):
            codec.decode_event(frame)


MOVE = {"type": "move", "id": 7, "race": "mint-otter-42/3", "after": 0, "move": "draw"}
TABLE = {"type": "create_table", "id": 7, "game": "canfield"}


@every_codec
@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({**MOVE, "move": 5}, "$.move"),
        ({**MOVE, "after": -1}, ">= 0"),
        ({key: MOVE[key] for key in ("type", "id", "race", "after")}, "field `move`"),
        ({**MOVE, "race": "m" * 36}, "$.race"),
        ({"type": "cash_out", "id": 7, "race": "../../../etc"}, "$.race"),
        ({"type": "cash_out", "id": 7, "race": "mint-otter-42/3\n"}, "$.race"),
        ({"type": "claim_name", "id": 7, "name": ""}, "$.name"),
        ({"type": "claim_name", "id": 7, "name": "x" * 65}, "$.name"),
        ({**TABLE, "cap": 21}, "$.cap"),
        ({**TABLE, "seats": True}, "$.seats"),
        ({**TABLE, "public": 1}, "$.public"),
        ({"type": "heartbeat", "id": 7, "please": True}, "unknown field `please`"),
        ({"type": "fly", "id": 7}, "fly"),
        ({"id": 7}, "field `type`"),
    ],
)
def test_a_refusal_names_the_fault_and_the_command(
    codec: Codec, fields: dict[str, object], detail: str
) -> None:
    found = fault(codec, written_elsewhere(codec, fields))
    assert (found.code, found.re) == ("bad_command", 7)
    assert detail in found.detail


@every_codec
@pytest.mark.parametrize("command_id", [0, -1, LARGEST_NUMBER + 1, 1.5, 1.0, True, "1", None, [1]])
def test_a_refusal_does_not_answer_an_invalid_id(codec: Codec, command_id: object) -> None:
    found = fault(codec, written_elsewhere(codec, {"type": "heartbeat", "id": command_id}))
    assert (found.code, found.re) == ("bad_command", None)


def test_the_other_kind_of_frame_is_named() -> None:
    assert fault(BINARY, '{"type":"heartbeat","id":1}').code == "wrong_frame_kind"
    assert fault(TEXT, b"\x82").code == "wrong_frame_kind"
    for codec, frame in ((BINARY, "{}"), (TEXT, b"\x80")):
        with pytest.raises(BadFrame, match="wrong_frame_kind"):
            codec.decode_event(frame)


HEARTBEAT = b"\x82\xa4type\xa9heartbeat\xa2id"


@pytest.mark.parametrize(
    ("codec", "frame", "code"),
    [
        (BINARY, b"\x81\xa4type", "bad_frame"),
        (BINARY, b"\xdf\xff\xff\xff\xff", "bad_frame"),
        (BINARY, b"\xdb\xff\xff\xff\xff", "bad_frame"),
        (BINARY, HEARTBEAT + b"\x01\x00", "bad_frame"),
        (BINARY, HEARTBEAT + b"\xcf" + b"\xff" * 8, "bad_command"),
        (BINARY, HEARTBEAT + b"\xcb\x7f\xf8" + b"\x00" * 6, "bad_command"),
        (BINARY, HEARTBEAT + b"\xc7\x08\xff12345678", "bad_command"),
        (BINARY, b"\x83\xa4type\xaaclaim_name\xa2id\x01\xa4name\xa2\xff\xfe", "bad_frame"),
        (BINARY, b"\x81\xa1a" * 3000, "bad_frame"),
        (TEXT, '{"type":"heartbeat","id":1}{}', "bad_frame"),
        (TEXT, '{"type":"heartbeat","id":' + "9" * 8000 + "}", "bad_command"),
        (TEXT, '{"type":"heartbeat","id":1e9999}', "bad_command"),
        (TEXT, '{"type":"claim_name","id":1,"name":"\ud800"}', "bad_frame"),
        (TEXT, '{"type":"claim_name","id":1,"name":"\\ud800"}', "bad_frame"),
        (TEXT, '{"a":' * 5000, "bad_frame"),
    ],
)
def test_an_unreadable_frame_is_refused_with_a_sentence(
    codec: Codec, frame: Frame, code: str
) -> None:
    found = fault(codec, frame)
    assert found.code == code
    assert found.detail.endswith(".")


@every_codec
def test_the_description_of_a_fault_has_a_limited_length_and_no_token(codec: Codec) -> None:
    found = fault(codec, written_elsewhere(codec, {"type": "x" * 8000, "id": 1}))
    assert len(found.detail) < LONGEST_DETAIL + 10
    found = fault(codec, written_elsewhere(codec, {"type": "hello", "id": 1, "token": "5a" * 40}))
    assert "5a5a" not in f"{found} {found.detail}"


if __name__ == "__main__":
    for file, messages in GOLDEN.items():
        (FOLDER / file).write_text(golden_text(messages), encoding="utf-8")


# Commands


KINDS = Command.__subclasses__()
EVENT_KINDS = Event.__subclasses__()


@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_fill_in_every_field_of_every_kind(kind: type[msgspec.Struct]) -> None:
    # The longest sample of a kind is the one that leaves nothing out.
    filled = max(len(msgspec.to_builtins(c)) for c in COMMANDS.values() if type(c) is kind)
    assert filled == len(msgspec.structs.fields(kind)) + len(["type"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_and_number_has_bounds(kind: type[msgspec.Struct]) -> None:
    schema = msgspec.json.schema(kind)["$defs"][kind.__name__]
    for name, field in schema["properties"].items():
        for option in field.get("anyOf", [field]):
            if name == "type" or option["type"] in ("boolean", "null"):
                continue
            if option["type"] == "array":
                assert "maxItems" in option, name
                option = option["items"]  # noqa: PLW2901 - the texts of a list have bounds, too
            if option["type"] == "integer":
                assert {"minimum", "maximum"} <= option.keys(), name
            else:
                assert {"pattern", "maxLength"} & option.keys(), name


def test_the_repr_of_hello_omits_the_token() -> None:
    assert "5a5a" not in f"{COMMANDS['hello']!r} {COMMANDS['hello']}"


@pytest.mark.parametrize(
    "level", ["Strong", "very strong", "x" * 13, "weak1", "weak\n", "", "[bot]"]
)
def test_a_level_is_one_short_lower_case_word(level: str) -> None:
    hello = {"type": "hello", "id": 1, "token": "5a" * 32, "bot": True}
    assert msgspec.convert({**hello, "level": "strong"}, commands.Hello).level == "strong"
    with pytest.raises(msgspec.ValidationError, match="level"):
        msgspec.convert({**hello, "level": level}, commands.Hello)


# Events


UNASKED = {
    events.TableChanged,
    events.MatchChanged,
    events.Standings,
    events.RaceOver,
    events.Announcement,
    events.Reacted,
    events.BotWanted,
    events.SeatLost,
}
"""The events that answer no command."""


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_the_samples_fill_in_every_field_of_every_kind_of_event(kind: type[msgspec.Struct]) -> None:
    samples = [msgspec.to_builtins(event) for event in EVENTS.values() if type(event) is kind]
    names = {field.name for field in msgspec.structs.fields(kind)} - (
        {"re"} if kind in UNASKED else set()
    )
    assert set().union(*samples) == names | {"type"}


def test_a_standing_has_no_field_that_could_hold_a_card() -> None:
    fields = {field.name for field in msgspec.structs.fields(events.Standing)}
    assert fields == {"player", "place", "banked", "net", "state", "head"}


ANY_STEP = st.sampled_from(sorted(GAMES)).flatmap(steps)


@given(ANY_STEP)
def test_a_view_survives_encoding_and_decoding(step: Step) -> None:
    view = redact(step.position)
    assert rules_view(wire_view(view)) == view


@given(ANY_STEP)
def test_the_legal_moves_follow_from_the_wire_view(step: Step) -> None:
    sent = wire_view(redact(step.position))
    assert legal_moves(step.game, rules_view(sent)) == list(step.legal)


@given(ANY_STEP)
def test_hidden_cards_are_not_encoded_even_without_redaction(
    step: Step,
) -> None:
    unredacted = wire_view(step.position)
    assert unredacted == wire_view(redact(step.position))
    frame = CODECS[JSON].encode(board(unredacted))
    assert isinstance(frame, str)
    assert HIDDEN not in frame


def test_face_down_cards_are_counted_on_the_wire() -> None:
    position = draw(LADY_PALK, "t1: KH\nt2: 5C 6D | 9D 8C\nt4: 2S | TC")
    sent = wire_view(position)
    assert sent.columns == ["KH", "9D8C", "", "TC", "", "", "", ""]
    assert sent.face_down == [0, 2, 0, 1, 0, 0, 0, 0]
    assert rules_view(sent) == redact(position)
    assert "5C" not in str(sent)


def test_the_wire_names_no_face_down_cards_where_there_are_none() -> None:
    frame = CODECS[JSON].encode(board(wire_view(redact(draw(LADY_PALK, "t1: KH")))))
    assert "face_down" not in str(frame)


def board(view: events.View) -> BoardChanged:
    return BoardChanged(
        board=BoardView(
            race="a/1", count=0, view=view, banked=0, net=0, state="racing", head="0" * 16
        ),
        place=1,
        entries=["0 1 draw"],
    )


VIEW = events.View(
    stock=3,
    waste="4D7H",
    reserve=2,
    reserve_top="6C",
    up=[1, 0, 0, 0],
    columns=["5D", "", "QS", "2S"],
    face_down=[0, 0, 3, 1],
    base=10,
)


@pytest.mark.parametrize(
    "change",
    [
        {"stock": -1},
        {"stock": 10**9},
        {"reserve": 105},
        {"reserve": 0},
        {"reserve_top": ""},
        {"reserve_top": "6C7C"},
        {"base": 0},
        {"base": 14},
        {"passes": 0},
        {"up": [1, 0]},
        {"up": [14, 0, 0, 0]},
        {"down": [-1, 0, 0, 0]},
        {"face_down": [0, 0, 3]},
        {"face_down": [0, 0, 0, 0]},
        {"face_down": [0, 0, 3, -1]},
        {"face_down": [0, 0, 3, 105]},
        {"face_down": [0, 1, 3, 0]},
        {"waste": "4D7"},
        {"waste": "XX"},
        {"columns": ["5D", "1S", "QS", "2S"]},
    ],
)
def test_an_impossible_view_is_refused(change: dict[str, object]) -> None:
    rules_view(VIEW)
    with pytest.raises(ValueError, match=r"\.$"):
        rules_view(replace(VIEW, **change))
