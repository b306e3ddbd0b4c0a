"""The player's own moves of a race, as the session keeps them."""

import dataclasses

from kit.session_states import START, board, opening, snapshot, state_after
from saratoga_client.session.own_board import with_move
from saratoga_client.session.own_trail import Trail
from saratoga_client.session.state import SessionState, confirm, next_state
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW
from saratoga_rules.position import Position
from saratoga_rules.views import redact

CANFIELD = GAMES["canfield"]


def drawn(state: SessionState, position: Position, at: int) -> tuple[SessionState, Position]:
    """Return the state and the position after a draw that the server has confirmed."""
    assert state.own is not None
    after = play(CANFIELD, position, DRAW)
    flying = dataclasses.replace(state, own=with_move(state.own, DRAW))
    return confirm(flying, board(after, count=state.own.count + 1), at=at), after


def trail_of(state: SessionState) -> Trail:
    assert state.trail is not None
    return state.trail


def two_draws() -> tuple[SessionState, Position]:
    state, position = state_after(), opening()
    for at in (4_000, 9_000):
        state, position = drawn(state, position, at)
    return state, position


def test_a_confirmed_move_is_kept_with_its_time_and_the_board_that_the_player_saw() -> None:
    state, position = two_draws()
    trail = trail_of(state)
    assert trail.first == redact(opening())
    assert [(step.at, step.text) for step in trail.steps] == [(4_000, "draw"), (9_000, "draw")]
    assert trail.steps[-1].view == redact(position)


def test_the_end_of_the_board_is_the_last_step() -> None:
    state, position = two_draws()
    ended = events.BoardEnded(board=board(position, 3, "cashed out"), at=12_000, number=5)
    state = next_state(state, ended, START + 12_000)
    last = trail_of(state).steps[-1]
    assert (last.at, last.text) == (12_000, "cash-out")
    # the end of the race adds nothing
    again = next_state(state, ended, START + 13_000)
    assert trail_of(again).steps == trail_of(state).steps


def test_moves_that_the_server_has_lost_are_dropped() -> None:
    state, _ = two_draws()
    after = play(CANFIELD, opening(), DRAW)
    state = confirm(state, board(after, count=1), is_final=True)
    assert [step.at for step in trail_of(state).steps] == [4_000]


def test_moves_made_elsewhere_are_one_step_without_a_text() -> None:
    state, position = two_draws()
    for _ in range(3):
        position = play(CANFIELD, position, DRAW)
    back = snapshot("y1 =a1 =r1", board(position, count=5), now=START + 40_000)
    state = next_state(state, back, START + 40_000)
    last = trail_of(state).steps[-1]
    assert (last.at, last.text, last.view) == (40_000, "", redact(position))


def test_a_player_who_comes_back_in_a_new_program_has_the_moves_from_then_on() -> None:
    position = play(CANFIELD, opening(), DRAW)
    state = state_after(first=snapshot("y1 =a1 =r1", board(position, count=1)))
    assert trail_of(state) == Trail(state.table.race, redact(position))


def test_the_trail_says_since_when_the_program_saw_the_board_unless_from_the_deal() -> None:
    position = play(CANFIELD, opening(), DRAW)
    late = snapshot("y1 =a1 =r1", board(position, count=1), now=START + 48_000)
    assert trail_of(state_after(first=late)).since == 48_000
    no_move_yet = snapshot("y1 =a1 =r1", board(), now=START + 48_000)
    assert trail_of(state_after(first=no_move_yet)).since == 0
