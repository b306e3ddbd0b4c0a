from typing import get_args

import msgspec
import pytest

from kit.messages import EVENTS
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.version import MSGPACK

KINDS = get_args(AnyEvent)


def test_every_kind_of_event_is_in_the_union() -> None:
    found = {
        kind
        for kind in vars(events).values()
        if isinstance(kind, type) and issubclass(kind, events.Event) and kind is not events.Event
    }
    assert found == set(KINDS)


def test_every_kind_has_a_different_name() -> None:
    assert len({kind.__struct_config__.tag for kind in KINDS}) == len(KINDS)


UNASKED = {
    events.TableChanged,
    events.Dealt,
    events.BoardEnded,
    events.Standings,
    events.RaceOver,
    events.Announcement,
    events.SeatLost,
}
"""The events that answer no command."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_fill_in_every_field_of_every_kind(kind: type[msgspec.Struct]) -> None:
    # The longest sample of a kind is the one that leaves nothing out.
    filled = max(
        len(msgspec.to_builtins(event)) for event in EVENTS.values() if type(event) is kind
    )
    assert filled == len(msgspec.structs.fields(kind)) + len(["type"]) - (kind in UNASKED)


def test_the_board_after_a_move_takes_150_to_400_bytes() -> None:
    # small enough that sending the whole board is cheaper than computing a difference
    assert 150 <= len(CODECS[MSGPACK].encode_event(EVENTS["move_made"])) <= 400


def test_a_standing_has_no_field_that_could_hold_a_card() -> None:
    fields = {field.name for field in msgspec.structs.fields(events.Standing)}
    assert fields == {"player", "place", "banked", "net", "state"}
