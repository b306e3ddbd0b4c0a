"""The kinds of commands, events and rows: complete, bounded, and small on the wire."""

import msgspec
import pytest

from kit.messages import COMMANDS, EVENTS
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, MSGPACK
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event

# Commands


KINDS = Command.__subclasses__()
EVENT_KINDS = Event.__subclasses__()


@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_fill_in_every_field_of_every_kind(kind: type[msgspec.Struct]) -> None:
    # The longest sample of a kind is the one that leaves nothing out.
    filled = max(len(msgspec.to_builtins(c)) for c in COMMANDS.values() if type(c) is kind)
    assert filled == len(msgspec.structs.fields(kind)) + len(["type"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_is_strict_and_cannot_be_changed(kind: type[msgspec.Struct]) -> None:
    config = kind.__struct_config__
    assert config.forbid_unknown_fields
    assert config.frozen


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


def test_the_board_after_a_move_takes_150_to_400_bytes() -> None:
    # small enough that sending the whole board is cheaper than computing a difference
    assert 150 <= len(CODECS[MSGPACK].encode(EVENTS["board"])) <= 400


def test_a_standing_has_no_field_that_could_hold_a_card() -> None:
    fields = {field.name for field in msgspec.structs.fields(events.Standing)}
    assert fields == {"player", "place", "banked", "net", "state", "head"}
