"""The replay of the player's own board while others still race."""

import dataclasses

from kit.session_states import START, board, opening, snapshot, standings, state_after, table
from saratoga_client.review.own_replay import own_replay
from saratoga_client.review.pauses import longest_pauses
from saratoga_client.session.own_board import with_move
from saratoga_client.session.state import SessionState, confirm, next_state
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW
from saratoga_rules.views import redact


def ended() -> SessionState:
    """Return the state after a draw and a cash-out, while two others race."""
    state = state_after(standings("a6 y1 =r1"))
    assert state.own is not None
    after = play(GAMES["canfield"], opening(), DRAW)
    state = dataclasses.replace(state, own=with_move(state.own, DRAW))
    state = confirm(state, board(after, count=1), at=20_000)
    last = events.BoardEnded(board=board(after, 2, "cashed out"), at=25_000, number=9)
    return next_state(state, last, START + 25_000)


def test_the_own_board_is_stepped_through_with_its_pauses() -> None:
    replay = own_replay(ended())
    assert replay is not None
    assert [line.text for line in replay.board.entries] == ["draw", "cash-out"]
    assert (replay.board.place, replay.end) == (2, 25_000)
    assert [pause.lasted for pause in longest_pauses(replay.board)] == [20_000, 5_000]
    assert replay.at(21_000).step == 1
    assert replay.board.climb.banked_at(25_000) == 1


def test_it_holds_no_other_board_and_no_hidden_card() -> None:
    replay = own_replay(ended())
    assert replay is not None
    assert len(replay.boards) == 1
    assert replay.board.positions == ()
    after = play(GAMES["canfield"], opening(), DRAW)
    assert replay.board.seen == (redact(opening()), redact(after), redact(after))
    assert replay.board.view(1) != after


def test_of_a_program_started_in_mid_race_it_begins_when_the_player_came_back() -> None:
    position = play(GAMES["canfield"], opening(), DRAW)
    late = snapshot("y1 =a1 =r1", board(position, count=1), now=START + 48_000)
    last = events.BoardEnded(board=board(position, 2, "cashed out"), at=60_000, number=9)
    replay = own_replay(state_after(last, first=late))
    assert replay is not None
    assert (replay.board.since, replay.moment) == (48_000, 48_000)
    at_end = replay.at_end()
    assert at_end.moment == 60_000
    for first in (at_end.at_home(), at_end.stepped(-1), replay.at(0)):
        assert (first.step, first.moment) == (0, 48_000)
    # the time before is no pause
    assert [(pause.since, pause.lasted) for pause in longest_pauses(replay.board)] == [
        (48_000, 12_000)
    ]


def test_a_board_that_had_ended_before_the_player_came_back_is_shown_from_then_on() -> None:
    late = snapshot("y1 =a1 =r1", board(count=3, state="won"), now=START + 48_000)
    replay = own_replay(state_after(first=late))
    assert replay is not None
    assert replay.at_home() == replay.at_end() == replay.at(90_000) == replay


def test_there_is_none_while_the_own_board_races_or_for_a_watcher() -> None:
    assert own_replay(state_after()) is None
    assert own_replay(state_after(first=snapshot("a1 r1", shown=table("ar", host="a")))) is None
