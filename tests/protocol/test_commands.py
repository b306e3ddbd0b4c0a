from typing import get_args

import msgspec
import pytest

from kit.messages import COMMANDS
from saratoga_protocol import commands
from saratoga_protocol.commands import AnyCommand

KINDS = get_args(AnyCommand)


def test_every_kind_of_command_is_in_the_union() -> None:
    found = {
        kind
        for kind in vars(commands).values()
        if isinstance(kind, type)
        and issubclass(kind, commands.Command)
        and kind is not commands.Command
    }
    assert found == set(KINDS)


def test_every_kind_has_a_different_name() -> None:
    assert len({kind.__struct_config__.tag for kind in KINDS}) == len(KINDS)


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
            if option["type"] == "integer":
                assert {"minimum", "maximum"} <= option.keys(), name
            else:
                assert {"pattern", "maxLength"} & option.keys(), name


def test_the_repr_of_hello_omits_the_token() -> None:
    assert "5a5a" not in f"{COMMANDS['hello']!r} {COMMANDS['hello']}"


@pytest.mark.parametrize("kind", [commands.MakeMove, commands.CashOut])
def test_the_longest_race_id_fits_every_command_about_a_race(kind: type[msgspec.Struct]) -> None:
    longest = "abcdefghijkl-abcdefghijkl-99/999999"
    fields = {"id": 1, "race": longest, "after": 0, "move": "draw"}
    with_longest_race = {name: fields[name] for name in kind.__struct_fields__}
    assert msgspec.convert({**with_longest_race, "type": kind.__struct_config__.tag}, kind)


@pytest.mark.parametrize(
    "level", ["Strong", "very strong", "x" * 13, "weak1", "weak\n", "", "[bot]"]
)
def test_a_level_is_one_short_lower_case_word(level: str) -> None:
    hello = {"type": "hello", "id": 1, "token": "5a" * 32, "bot": True}
    assert msgspec.convert({**hello, "level": "strong"}, AnyCommand).level == "strong"
    with pytest.raises(msgspec.ValidationError, match="level"):
        msgspec.convert({**hello, "level": level}, AnyCommand)
