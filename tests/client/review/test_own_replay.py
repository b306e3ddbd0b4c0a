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


def test_there_is_none_while_the_own_board_races_or_for_a_watcher() -> None:
    assert own_replay(state_after()) is None
    assert own_replay(state_after(first=snapshot("a1 r1", shown=table("ar", host="a")))) is None
