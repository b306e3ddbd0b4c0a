"""A race on a node: deadlines, standings, and the view of a board."""

import pytest

from kit.tables import ANN, BEN, CLEO, CODE, NOON, after
from saratoga_protocol.views import wire_view
from saratoga_rules.games import GAMES
from saratoga_rules.position import parse_position
from saratoga_rules.records.standing import Reached, State
from saratoga_rules.views import redact
from saratoga_server.domain.board import ended, enter, open_board
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.ports import LiveStanding, LogEntry, Millis

GAME = GAMES["canfield"]
OPENING = parse_position(
    "stock=2C3C4C waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/3S/3D base=1 passes=1"
)


def race(standings: dict[str, LiveStanding]) -> LiveRace:
    """Return a race with these standings."""
    return LiveRace(
        id=f"{CODE}/1",
        code=CODE,
        number=1,
        game=GAME,
        opening=OPENING,
        runs={player: run(player, standing) for player, standing in standings.items()},
    )


def run(player: str, standing: LiveStanding, deadline: int = 0) -> BoardRun:
    return BoardRun(
        player=player,
        start_at=NOON,
        deadline=Millis(deadline),
        audience=CODE,
        standing=standing,
    )


RACING = LiveStanding(0, 4, State.RACING)


def test_a_run_is_out_of_time_from_its_deadline_on() -> None:
    limited = run(ANN, RACING, deadline=after(60_000))
    assert not limited.is_out_of_time(after(59_999))
    assert limited.is_out_of_time(after(60_000))
    assert not run(ANN, RACING).is_out_of_time(after(10**9)), "it has no deadline"


def test_a_race_is_over_when_every_run_has_ended() -> None:
    stuck, left = LiveStanding(3, 6, State.STUCK), LiveStanding(1, 4, State.LEFT)
    assert not race({ANN: RACING, BEN: stuck}).is_over
    assert race({ANN: left, BEN: stuck}).is_over


def test_standings_are_in_order_of_place() -> None:
    standings = race(
        {
            ANN: LiveStanding(9, 6, State.RACING, Reached(900, 8)),
            BEN: LiveStanding(5, 6, State.CASHED_OUT, Reached(700, 4)),
            CLEO: LiveStanding(2, 7, State.RACING, Reached(950, 9)),
        }
    ).standings()
    assert standings.race == f"{CODE}/1"
    assert [(row.player, row.place, row.banked, row.net) for row in standings.standings] == [
        (CLEO, 1, 7, -15),
        (BEN, 2, 6, -20),
        (ANN, 3, 6, -20),
    ]
    assert [row.state for row in standings.standings] == ["racing", "cashed out", "racing"]


@pytest.mark.parametrize("legal", [True, False])
def test_a_player_sees_the_board_without_the_cards_that_are_hidden(legal: bool) -> None:
    board = open_board(OPENING, NOON)
    view = race({ANN: RACING}).view(board, legal)
    assert view.view == wire_view(redact(OPENING))
    assert (view.race, view.count, view.banked, view.net) == (f"{CODE}/1", 0, 4, -30)
    assert view.state == "racing"
    if legal:
        assert view.legal is not None
        assert {"draw", "t1>up", "t2>up"} <= set(view.legal)
    else:
        assert view.legal is None


def test_a_board_that_has_ended_has_no_legal_moves() -> None:
    board = open_board(OPENING, NOON)
    enter(board, ended(board, State.CASHED_OUT), [LogEntry("cash-out", after(500), 1, 7)])
    here = race({ANN: board.standing()})
    assert (here.view(board, legal=True).legal, here.view(board, legal=True).count) == ([], 1)
    assert here.view(board, legal=False).legal is None
