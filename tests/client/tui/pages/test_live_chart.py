"""The page with the chart of a race that runs."""

import pytest

from kit.session_states import START, player, seat, snapshot, standings, state_after, table
from saratoga_client.board_view.roles import Role
from saratoga_client.session.state import SessionState
from saratoga_client.tui.pages.live_chart import elapsed, live_chart, live_lines

LETTERS = "yabcdefghijklmnp"


def racing(letters: str = "ya") -> SessionState:
    first = snapshot(
        " ".join(f"{each}1" for each in letters),
        shown=table(letters, seats=[seat(each) for each in letters]),
    )
    later = (standings(" ".join(f"{each}{count}" for each in letters)) for count in (6, 14))
    return state_after(*later, first=first)


def text(state: SessionState, width: int, height: int) -> list[str]:
    canvas = live_chart(state, width, height, START + 60_000, ascii_only=True)
    return ["".join(cell.text for cell in row) for row in canvas.rows()]


def test_the_climb_of_a_racer_follows_from_the_standings() -> None:
    state = racing()
    for _, climb in live_lines(state, 60_000):
        assert (climb.start, climb.counts) == (1, ((10_000, 6), (20_000, 14)))
        assert climb.banked_at(60_000) == 14
    assert elapsed(state, START + 60_000) == 60_000


@pytest.mark.parametrize(("width", "height"), [(54, 15), (80, 21), (120, 37)])
def test_place_money_and_chart_have_their_own_columns(width: int, height: int) -> None:
    shown = text(racing(), width, height)
    assert shown[1].split()[:4] == ["1", "YOU", "14", "+$20"]
    assert shown[2].startswith(" 2 ana")
    assert "BANKED OVER TIME" in shown[0]
    assert all(row[34] == " " for row in shown), "no column is shared"
    assert shown[-1].split() == ["0:00", "0:30", "1:00"]


def test_a_shared_place_is_one_number_and_every_line_has_its_racers_colour() -> None:
    state = state_after(standings("a9 y5 r4"), standings("a9 =y9 r4"))
    canvas = live_chart(state, 80, 21, START + 60_000, ascii_only=True)
    assert [row[1:5] for row in text(state, 80, 21)[1:4]] == ["1 an", "1 YO", "3 ra"]
    roles = {line.role for row in canvas.rows() for line in row if set(line.text) == {"1"}}
    assert roles == {Role.LEADER, Role.YOU}


def test_sixteen_racers_fit_at_80x24() -> None:
    shown = text(racing(LETTERS), 80, 21)
    assert shown[16].startswith(" g racer p")
    assert player("p") not in "".join(shown)
