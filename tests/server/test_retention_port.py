"""The port of the sweeper: why a step of it has kept entries."""

from msgspec.structs import replace

from saratoga_server.ports import Millis
from saratoga_server.retention_port import Swept

SWEPT = Swept(done=3, held_until=Millis(0), ahead=12, clocks_differ=False)


def test_a_step_that_kept_nothing_back_has_no_reason() -> None:
    assert SWEPT.why_postponed is None


def test_different_clocks_are_named_before_a_jump() -> None:
    held = replace(SWEPT, held_until=Millis(9))
    assert held.why_postponed == "clock_jumped"
    assert replace(held, clocks_differ=True).why_postponed == "clocks_differ"
