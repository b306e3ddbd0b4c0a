"""Every parting says what happened, what to do, and what becomes of the score."""

import pytest

from kit.evenings import CODE, board, evening, snapshot, standings
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit
from saratoga_client.session.error_messages import GIVEN_UP, problem_for, seat_lost_problem
from saratoga_client.session.state import SessionState, next_state
from saratoga_client.session.state_store import StateStoreClosed
from saratoga_protocol import events
from saratoga_protocol.refusals import ABUSE, BANNED, REASONS, TAKEN_OVER, WRONG_SUBPROTOCOL

SERVER = "ws://house.invalid"


def refused(code: str) -> CommandRefused:
    reason = REASONS[code]
    return CommandRefused(
        events.Refused(re=7, code=code, message=reason.sentence, retry=reason.retry)
    )


@pytest.mark.parametrize(
    ("trouble", "what", "remedy"),
    [
        (ServerClosed(TAKEN_OVER.code, TAKEN_OVER.reason), "another device", "Go on there"),
        (ServerClosed(BANNED.code, BANNED.reason), "banned you", "Finished races stay"),
        (ServerClosed(ABUSE.code, ABUSE.reason), "closed the connection: too many", "is safe"),
        (ServerClosed(WRONG_SUBPROTOCOL.code, ""), "another version", "up to date"),
        (ClientClosed("closed"), "over", "is safe"),
        (StateStoreClosed(), "over", "is safe"),
        (RequestTimedOut("Ready"), "no answer in time", "look before you do it again"),
        (refused("server_fault"), "server failed on this command", "look before you do it again"),
        (refused("store_unavailable"), "cannot reach its store", "look before"),
        (refused("draining"), "about to stop", "nothing was changed"),
        (Unreachable(SERVER, "connection refused"), "connection refused", "address"),
        (UnexpectedAnswer("a Done"), "another version", "up to date"),
    ],
)
def test_a_trouble_says_what_happened_and_what_to_do(
    trouble: Exception, what: str, remedy: str
) -> None:
    problem = problem_for(SERVER, trouble)
    assert what in problem.what
    assert remedy in problem.remedy


def test_a_refusal_keeps_the_houses_code() -> None:
    assert problem_for(SERVER, refused("server_fault")).refusal == "server_fault"
    assert problem_for(SERVER, refused("host_only")).refusal == "host_only"


def gone(reason: str, first: events.Snapshot | None = None) -> SessionState:
    present = evening(standings("a5 y3 r1"), first=first)
    return next_state(present, events.SeatLost(table=CODE, reason=reason), 0)


def test_whoever_is_sent_away_is_told_by_whom_and_how_the_board_stands() -> None:
    problem = seat_lost_problem(gone("The host has kicked you from the table."))
    assert (
        problem.what
        == f"You are no longer at the table {CODE}: The host has kicked you from the table."
    )
    assert f"saratoga join {CODE}." in problem.remedy
    assert "its host wants you" in problem.remedy
    assert f"The 1 card that you have banked in race {CODE}/1 counts" in problem.remedy
    assert "unless the table was closed" in problem.remedy
    assert problem.code is Exit.REFUSED


def test_whoever_was_away_too_long_keeps_what_was_banked() -> None:
    (reason,) = GIVEN_UP
    problem = seat_lost_problem(gone(reason))
    assert "you were away too long" in problem.what
    assert problem.remedy.endswith("counts.")


def test_an_ended_board_counts_whatever_becomes_of_the_seat() -> None:
    problem = seat_lost_problem(gone("Away.", snapshot("a5 y1:stuck", board(state="stuck"))))
    assert problem.remedy.endswith("had ended; what you banked counts.")


def test_before_a_race_there_is_no_score_to_speak_of() -> None:
    problem = seat_lost_problem(gone("Away.", snapshot()))
    assert problem.remedy.endswith(f"saratoga join {CODE}.")


def test_whoever_watches_has_lost_no_seat() -> None:
    problem = seat_lost_problem(gone("The table is closed.", snapshot("a5 r1")), is_watching=True)
    assert problem.what.startswith(f"You no longer watch the table {CODE}")
    assert f"saratoga watch {CODE}" in problem.remedy


def test_no_reason_commands_the_terminal() -> None:
    assert "\x1b" not in str(seat_lost_problem(gone("\x1b[2Jgone")))
    closed = ServerClosed(4599, "\x1b[2Jgone")
    assert "\x1b" not in str(problem_for(SERVER, closed))
