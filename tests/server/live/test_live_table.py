"""The state of a table on a node."""

import pytest
from msgspec.structs import replace

from kit.tables import ANN, BEN, CODE, seated
from saratoga_server.live.live_table import Known, LiveTable


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_follow_up_begins_at_the_oldest_version_noted(order: tuple[int, int]) -> None:
    known = {1: Known(1, seated(ANN)), 2: Known(2, seated(ANN, BEN))}
    table = LiveTable(CODE, 3, replace(seated(ANN, BEN), notice="third"))
    for version in order:
        table.falls_behind(known[version])
    assert table.followed_up is known[1]


def test_what_is_known_is_version_and_state() -> None:
    state = seated(ANN)
    assert LiveTable(CODE, 7, state).known == Known(7, state)


def test_a_view_has_the_version_and_no_secret() -> None:
    state = seated(ANN)
    view = LiveTable(CODE, 7, state).view()
    assert (view.code, view.version) == (CODE, 7)
    assert state.seed not in repr(view)
