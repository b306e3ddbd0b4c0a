"""The player's own board: moves are shown before their answers, then confirmed or taken back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.session_states import board, opening
from saratoga_client.session.own_board import (
    OwnBoard,
    own_board,
    place_of,
    with_board,
    with_move,
    without,
)
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, Move, parse_move
from saratoga_rules.play import IllegalMove, play
from saratoga_rules.position import Position, redact

CANFIELD = GAMES["canfield"]
DEAL = opening(key=3)


def open_board(position: Position = DEAL, count: int = 0) -> OwnBoard:
    return own_board(board(position, count), CANFIELD, 0, 0)


def quiet_line(length: int) -> tuple[Position, list[Move], list[Position]]:
    """Return a position with `length` moves in a row that turn no card up, and their results."""
    for key in range(200):
        position = opening(key=key)
        for _ in range(25):
            line, passed = _quiet(position, length)
            if len(line) == length:
                return position, line, passed
            if DRAW not in legal_moves(CANFIELD, position):
                break
            position = play(CANFIELD, position, DRAW)
    raise AssertionError("no deal has such a line")


def _quiet(position: Position, length: int) -> tuple[list[Move], list[Position]]:
    line: list[Move] = []
    passed: list[Position] = []
    seen = {position}
    while len(line) < length:
        own = open_board(position)
        for move in legal_moves(CANFIELD, position):
            after = play(CANFIELD, position, move)
            if after not in seen and not with_move(own, move).awaited:
                line.append(move)
                passed.append(after)
                seen.add(after)
                position = after
                break
        else:
            break
    return line, passed


START, LINE, PASSED = quiet_line(3)


def in_flight(moves: int = 3) -> OwnBoard:
    own = open_board(START)
    for move in LINE[:moves]:
        own = with_move(own, move)
    return own


def test_a_move_that_turns_a_card_up_is_awaited() -> None:
    own = with_move(open_board(), DRAW)
    assert own.awaited
    assert not own.may_move
    assert own.shown == own.view
    done = with_board(own, board(play(CANFIELD, DEAL, DRAW), 1))
    assert not done.awaited
    assert done.shown == redact(play(CANFIELD, DEAL, DRAW))
    assert done.in_flight == ()


def test_an_illegal_move_is_not_shown() -> None:
    with pytest.raises(IllegalMove):
        with_move(open_board(), parse_move("redeal"))


def test_a_refused_move_is_taken_back_with_all_later_moves() -> None:
    own = in_flight()
    ticket = own.in_flight[1].ticket
    own = without(own, ticket, "The rules do not allow that move.")
    assert own.shown == redact(PASSED[0])
    assert len(own.in_flight) == 1
    assert own.taken_back == (
        "The waste to column 3 and 1 move after it were taken back: The rules do not allow that move."
    )
    assert without(own, ticket, "again") is own
    assert with_move(own, LINE[1]).taken_back == ""


def test_the_end_of_the_board_takes_back_the_moves_in_flight() -> None:
    own = with_board(in_flight(), board(PASSED[0], 2, state="out-of-time"))
    assert own.shown == redact(PASSED[0])
    assert not own.may_move
    assert own.taken_back == (
        "The waste to column 3 and 1 move after it were taken back: your board had ended: out of time."
    )
    # A late answer does not reopen the board.
    assert with_board(own, board(PASSED[0], 1)) is own


def test_a_move_that_ends_the_board_is_not_taken_back() -> None:
    own = with_board(in_flight(1), board(PASSED[0], 2, state="stuck"))
    assert own.taken_back == ""
    assert own.state == "stuck"


def test_a_final_board_counts_even_with_fewer_moves() -> None:
    own = with_board(in_flight(), board(PASSED[1], 2))
    own = with_board(own, board(PASSED[0], 1), is_final=True)
    assert own.shown == redact(PASSED[0])
    assert "the server has only 1" in own.taken_back


def test_moves_that_a_final_board_counts_are_in_flight_no_more() -> None:
    own = with_board(in_flight(), board(PASSED[0], 1), is_final=True)
    assert [flight.move for flight in own.in_flight] == LINE[1:]
    assert own.shown == redact(PASSED[2])


def test_a_board_of_another_race_is_ignored() -> None:
    own = open_board()
    assert with_board(own, board(race="mint-otter-42/2", count=9)) is own


def test_moves_that_no_longer_fit_are_taken_back() -> None:
    other = next(
        deal for key in range(100) if LINE[0] not in legal_moves(CANFIELD, deal := opening(key=key))
    )
    own = with_board(in_flight(), board(other, 0))
    assert own.shown == redact(other)
    assert own.in_flight == ()
    assert own.taken_back.startswith("The waste to column 2 and 2 moves after it were taken back: ")


def test_tickets_tell_equal_moves_apart() -> None:
    own = with_board(with_move(open_board(), DRAW), board(play(CANFIELD, DEAL, DRAW), 1))
    own = with_move(own, DRAW)
    assert place_of(own, own.in_flight[0].ticket) == 0
    assert place_of(own, own.in_flight[0].ticket - 1) is None


@given(st.sampled_from(sorted(GAMES)), st.integers(0, 255), st.data())
def test_what_is_shown_is_always_the_confirmed_board_with_the_moves_in_flight(
    name: str, key: int, data: st.DataObject
) -> None:
    game = GAMES[name]
    truth = [opening(name, key)]
    moves: list[Move] = []
    own = own_board(board(truth[0], game=name), game, 0, 0)
    for _ in range(data.draw(st.integers(1, 30))):
        legal = legal_moves(game, own.shown)
        if own.may_move and legal and data.draw(st.booleans()):
            move = data.draw(st.sampled_from(legal))
            own = with_move(own, move)
            moves.append(move)
            truth.append(play(game, truth[-1], move))
        else:
            heard = data.draw(st.integers(0, len(moves)))
            own = with_board(own, board(truth[heard], heard, game=name))
        expected = truth[-2] if own.awaited else truth[-1]
        assert own.shown == redact(expected)
        assert own.taken_back == ""
