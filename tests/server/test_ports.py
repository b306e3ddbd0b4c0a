"""Values of the ports: standings that look the same to other players."""

from msgspec.structs import replace

from saratoga_rules.records.standing import Reached, State
from saratoga_server.ports import LiveStanding

STANDING = LiveStanding(7, 3, State.RACING, "0" * 16, Reached(1_000, 5))


def test_a_standing_after_a_move_that_banks_nothing_shows_the_same() -> None:
    assert STANDING.shows_same_as(replace(STANDING, length=8))


def test_a_standing_with_another_count_state_or_time_shows_something_else() -> None:
    changes = ({"banked": 4}, {"state": State.STUCK}, {"reached": Reached(2_000, 6)})
    for changed in changes:
        assert not STANDING.shows_same_as(replace(STANDING, **changed))
