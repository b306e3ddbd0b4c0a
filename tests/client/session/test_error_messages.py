"""Messages for connection errors and lost seats: what happened, and what to do."""

from dataclasses import replace

import pytest
from msgspec import structs

from kit.races import voided_race
from kit.session_states import CODE, board, snapshot, standings, state_after, table
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.net.greeting import SEAT_EXPIRED
from saratoga_client.problems import Exit
from saratoga_client.session.error_messages import problem_for, seat_lost_problem, with_alarms
from saratoga_client.session.state import SessionState, next_state
from saratoga_client.session.state_store import StateStoreClosed
from saratoga_protocol import events
from saratoga_protocol.refusals import ABUSE, BANNED, REASONS, TAKEN_OVER, WRONG_SUBPROTOCOL

SERVER = "ws://server.invalid"


def refused(code: str) -> CommandRefused:
    reason = REASONS[code]
    return CommandRefused(
        events.Refused(re=7, code=code, message=reason.sentence, retry=reason.retry)
    )


@pytest.mark.parametrize(
    ("error", "what", "remedy"),
    [
        (ServerClosed(TAKEN_OVER.code, TAKEN_OVER.reason), "another device", "continue there"),
        (ServerClosed(BANNED.code, BANNED.reason), "banned you", "finished races still count"),
        (ServerClosed(ABUSE.code, ABUSE.reason), "closed the connection: too many", "is safe"),
        (ServerClosed(WRONG_SUBPROTOCOL.code, ""), "another version", "Update this program"),
        (ClientClosed("closed"), "no longer at this table", "is safe"),
        (StateStoreClosed(), "no longer at this table", "is safe"),
        (
            RequestTimedOut("Ready"),
            "did not answer in time",
            "Check whether your command was carried out",
        ),
        (
            refused("server_fault"),
            "server failed on this command",
            "Check whether your command was carried out",
        ),
        (
            refused("store_unavailable"),
            "cannot use its store",
            "Check whether your command was carried out",
        ),
        (refused("draining"), "about to stop", "Try again later."),
        (Unreachable(SERVER, "connection refused"), "connection refused", "address"),
        (UnexpectedAnswer("a Done"), "another version", "Update this program"),
    ],
)
def test_the_message_for_an_error_says_what_happened_and_what_to_do(
    error: Exception, what: str, remedy: str
) -> None:
    problem = problem_for(SERVER, error)
    assert what in problem.what
    assert remedy in problem.remedy


def test_the_message_for_a_refusal_keeps_its_code() -> None:
    assert problem_for(SERVER, refused("server_fault")).refusal == "server_fault"
    assert problem_for(SERVER, refused("host_only")).refusal == "host_only"


def seat_lost(reason: str, first: events.Snapshot | None = None) -> SessionState:
    present = state_after(standings("a5 y3 r1"), first=first)
    return next_state(present, events.SeatLost(table=CODE, reason=reason), 0)


def test_the_message_to_a_kicked_player_says_why_and_what_counts() -> None:
    problem = seat_lost_problem(seat_lost("The host has kicked you from the table."))
    assert (
        problem.what
        == f"You are no longer at table {CODE}: The host has kicked you from the table."
    )
    assert problem.remedy.endswith(f": saratoga join {CODE}")
    assert "the host allows it" in problem.remedy
    assert f"The 1 card that you banked in race {CODE}/1 counts" in problem.remedy
    assert "unless the table was closed" in problem.remedy
    assert problem.code is Exit.REFUSED


def test_a_player_who_was_disconnected_too_long_keeps_what_was_banked() -> None:
    problem = seat_lost_problem(seat_lost(SEAT_EXPIRED))
    assert "You were disconnected for too long" in problem.what
    assert "counts. To sit down again" in problem.remedy


def test_an_ended_board_counts_although_the_seat_is_lost() -> None:
    problem = seat_lost_problem(seat_lost("Away.", snapshot("a5 y1:stuck", board(state="stuck"))))
    assert "had ended; what you banked counts. To sit" in problem.remedy


@pytest.mark.parametrize("end", ["racing", "stuck"])
def test_a_voided_race_counts_for_nothing_whether_the_own_board_had_ended_or_not(end: str) -> None:
    present = state_after(first=snapshot("a5 y1", board(count=4, state=end)))
    closed = structs.replace(table(phase="closed", version=9), voided=[voided_race(f"{CODE}/1")])
    gone = events.SeatLost(table=CODE, reason="The operator has closed the table.")
    for event in (events.TableChanged(table=closed, now=0), gone):
        present = next_state(present, event, 0)
    problem = seat_lost_problem(present)
    assert problem.remedy.startswith(
        f"Race {CODE}/1 was voided, so it counts for nothing. To sit down again"
    )


def test_the_message_for_a_seat_lost_before_a_race_names_no_score() -> None:
    problem = seat_lost_problem(seat_lost("Away.", snapshot()))
    assert problem.remedy.startswith("To sit down again")


def test_the_way_back_to_another_server_than_the_usual_one_names_it() -> None:
    server = "ws://192.168.1.7:7470"
    lost = replace(seat_lost("Away."), server=server)
    assert seat_lost_problem(lost).remedy.endswith(f": saratoga join {server}/{CODE}")
    watched = seat_lost_problem(lost, is_watching=True)
    assert watched.remedy.endswith(f": saratoga watch {server}/{CODE}")


def test_a_server_of_this_machine_that_is_closed_can_be_opened_again() -> None:
    problem = problem_for(
        "ws://127.0.0.1:8123", Unreachable("ws://127.0.0.1:8123", "no server listens there")
    )
    assert "No server answers on this machine at ws://127.0.0.1:8123" in problem.what
    assert problem.remedy.endswith("To open it again: saratoga host --port 8123")


def test_the_message_to_a_watcher_does_not_speak_of_a_seat() -> None:
    problem = seat_lost_problem(
        seat_lost("The table is closed.", snapshot("a5 r1")), is_watching=True
    )
    assert problem.what.startswith(f"You no longer watch table {CODE}")
    assert f"saratoga watch {CODE}" in problem.remedy


def test_the_alarms_about_lost_races_stand_in_the_message_and_give_the_exit_code() -> None:
    problem = seat_lost_problem(seat_lost("Away."))
    assert with_alarms(problem, []) is problem
    alarmed = with_alarms(problem, ["Race a/1: gone.", "Race a/2: gone."])
    assert alarmed.what == f"{problem.what} ALARM: Race a/1: gone. Race a/2: gone."
    assert (alarmed.remedy, alarmed.code) == (problem.remedy, Exit.NOT_VERIFIED)
