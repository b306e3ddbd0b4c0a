"""Sentences about results, matches, errors, voided races and personal bests."""

from dataclasses import replace

import pytest
from msgspec import structs

from kit.positions import banking
from kit.races import Entrant, race, voided_race
from kit.session_states import (
    CODE,
    START,
    board,
    match,
    outcome,
    player,
    racer_of,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit
from saratoga_client.session.history import PersonalBest, best_in, is_better
from saratoga_client.session.open_connection import problem_for, seat_lost_problem, with_alarms
from saratoga_client.session.result_text import (
    against_best,
    champion_words,
    gap,
    headline,
    last_board,
    own_result,
    why_unranked,
)
from saratoga_client.session.starting import left_behind
from saratoga_client.session.state import SessionState, next_state
from saratoga_client.session.state_store import StateStoreClosed
from saratoga_protocol import events
from saratoga_protocol.refusals import (
    ABUSE,
    BANNED,
    REASONS,
    RETRIED,
    TAKEN_OVER,
    WRONG_SUBPROTOCOL,
)

BEST = PersonalBest(
    game="canfield",
    race="mint-otter-42/1",
    banked=10,
    net=0,
    reached=60_000,
    counts=((0, 1), (20_000, 7), (60_000, 10)),
)


def at(shorthand: str) -> SessionState:
    return state_after(standings(shorthand))


@pytest.mark.parametrize(
    ("shorthand", "sentence"),
    [
        ("a9 y3 r1", "6 behind ana"),
        ("a9 r8 y7", "2 behind ana"),
        ("y9 a8 r1", "1 ahead of ana"),
        ("y9 =a9 r1", "level with ana"),
        ("y9 a9 r1", "level with ana"),
        ("a9 y9 r1", "level with ana"),
        ("y9:stuck =a9 r1", "level with ana"),
        ("r20 a9 y9", "level with ana"),
        ("o9 y3 r1", "6 behind Otto°"),
        ("y3", "alone in this race"),
        ("a9 r3", ""),
        ("", ""),
    ],
)
def test_the_gap_is_a_sentence(shorthand: str, sentence: str) -> None:
    first = snapshot("y1 =a1 =o1 =r1", board(), table("yaor"))
    assert gap(state_after(standings(shorthand), first=first)) == sentence


@pytest.mark.parametrize(
    ("shorthand", "sentence"),
    [
        ("y20:won a9 r3", "You finished 1st of 3, 11 cards ahead of ana."),
        ("a20 y9:stuck r3", "You finished 2nd of 3, 11 cards behind ana, 6 ahead of raj."),
        ("a1 =y1 =r1", "You share 1st place with ana and raj."),
        ("y12:cash-out", "You cashed out with 12: +$10."),
        ("y9:stuck", "You are stuck at 9: -$5."),
        ("y9:left", "You left at 9: -$5."),
        ("a9 r3", ""),
    ],
)
def test_the_result_is_a_sentence(shorthand: str, sentence: str) -> None:
    state = state_after(events.RaceOver(outcome=outcome(shorthand)))
    assert own_result(state) == sentence
    assert own_result(at("a9 y3 r1")) == ""


@pytest.mark.parametrize(
    ("shorthand", "sentence"),
    [
        ("y20:won a9 r3", "You win by $55."),
        ("a9 y9 r3", "ana wins, first to 9 cards."),
        ("a1 =y1 =r1", "ana, you and raj share first place with 1 card."),
        ("y9:stuck", "You banked 9 cards: -$5."),
    ],
)
def test_the_headline_says_who_has_won(shorthand: str, sentence: str) -> None:
    assert headline(state_after(events.RaceOver(outcome=outcome(shorthand)))) == sentence
    assert headline(at("a9 y3 r1")) == ""


@pytest.mark.parametrize(
    ("host", "last", "millis", "sentence"),
    [
        ("y", "r", -60_200, "Only raj is still racing; you can end the race in 60 s."),
        ("a", "r", -1, "Only raj is still racing; ana can end the race in 1 s."),
        ("a", "y", 0, "Only you are still racing; ana can end the race now."),
        ("o", "y", 9, "Only you are still racing; Otto° can end the race now."),
        ("y", "y", 0, "Only you are still racing."),
        ("a", "a", 125_000, "ana is still racing, 7:55 left."),
        ("a", "", 0, ""),
    ],
)
def test_the_sentence_on_the_last_racer_says_when_the_host_may_end_the_race(
    host: str, last: str, millis: int, sentence: str
) -> None:
    shown = structs.replace(
        table("yaro", host=host), last_racer=player(last) if last else "", end_from=START
    )
    state = state_after(first=snapshot("a9 y3 r1", shown=shown))
    assert last_board(state, START + millis) == sentence


@pytest.mark.parametrize(
    ("letters", "cap", "public", "reason"),
    [
        ("ya", 0, False, "without a time limit"),
        ("ya", 10, False, "only races at public tables"),
    ],
)
def test_an_unranked_race_names_the_reason(
    letters: str, cap: int, public: bool, reason: str
) -> None:
    settings = events.TableSettings(game="canfield", cap=cap, seats=16, public=public)
    shown = structs.replace(table(letters), settings=settings)
    shown = structs.replace(shown, racers=list(map(racer_of, letters)))
    state = state_after(first=snapshot(shown=shown))
    assert reason in why_unranked(state)


def test_the_sentence_on_the_personal_best_follows_the_race() -> None:
    state = replace(at("a9 y3 r1"), best=BEST)
    assert state.own is not None
    assert against_best(state, 20_000) == f"{7 - state.own.banked} behind your best"
    assert against_best(replace(state, best=None), 0) == ""
    past = replace(state, best=replace(BEST, banked=0, counts=((0, state.own.banked),)))
    assert against_best(past, 0) == "level with your best"
    ended = replace(state, own=replace(state.own, state="stuck"))
    assert against_best(ended, 20_000) == ""


YOU_OF_MATCH_TEXT = player("y")


@pytest.mark.parametrize(
    ("races", "words"),
    [
        (("a9 y5", "a9 y5"), ""),
        (("a9 y5", "a9 y5", "y9 a5"), "ana is the champion: -$35 over 3 races."),
        (("y9 a5", "y9 a5", "a9 y5"), "You are the champion: -$35 over 3 races."),
        (("a9 r5", "r9 a5", "a5 =r5"), "ana and raj share the match: -$55 over 3 races."),
        (("a9 y5", "y9 a5", "a5 =y5"), "You and ana share the match: -$55 over 3 races."),
    ],
)
def test_a_finished_match_names_its_champion(races: tuple[str, ...], words: str) -> None:
    assert champion_words(match(*races), YOU_OF_MATCH_TEXT) == words


SERVER = "ws://server.invalid"
DOUBT = "Check whether your command was carried out"


def refused(code: str) -> CommandRefused:
    return CommandRefused(
        events.Refused(re=7, code=code, message=REASONS[code], retry=code in RETRIED)
    )


@pytest.mark.parametrize(
    ("error", "what", "remedy", "code"),
    [
        (
            ServerClosed(TAKEN_OVER.code, TAKEN_OVER.reason),
            "another device",
            "continue there",
            Exit.REFUSED,
        ),
        (
            ServerClosed(BANNED.code, BANNED.reason),
            "banned you",
            "finished races still count",
            Exit.REFUSED,
        ),
        (
            ServerClosed(ABUSE.code, ABUSE.reason),
            "closed the connection: too many",
            "is safe",
            Exit.REFUSED,
        ),
        (
            ServerClosed(WRONG_SUBPROTOCOL.code, ""),
            "another version",
            "Update this program",
            Exit.TOO_OLD,
        ),
        (ClientClosed("closed"), "no longer at this table", "is safe", Exit.REFUSED),
        (StateStoreClosed(), "no longer at this table", "is safe", Exit.REFUSED),
        (RequestTimedOut("Ready"), "not answer in time", DOUBT, Exit.UNREACHABLE),
        (refused("server_fault"), "server failed on this command", DOUBT, Exit.REFUSED),
        (refused("store_unavailable"), "cannot use its store", DOUBT, Exit.REFUSED),
        (refused("draining"), "about to stop", "Try again later.", Exit.REFUSED),
        (refused("table_full"), "Every seat", "", Exit.REFUSED),
        (refused("no_such_table"), "no table with that code", "", Exit.NOT_FOUND),
        (refused("no_such_race"), "no such race", "", Exit.NOT_FOUND),
        (refused("table_closed"), "closed", "", Exit.NOT_FOUND),
        (
            Unreachable(SERVER, "it rains"),
            f"server at {SERVER}: it rains",
            "right",
            Exit.UNREACHABLE,
        ),
        (Unreachable(SERVER, "bad certificate"), "certificate", "SSL_CERT_FILE", Exit.UNREACHABLE),
        (UnexpectedAnswer("a Done"), "another version", "Update this program", Exit.TOO_OLD),
    ],
)
def test_the_message_for_an_error_says_what_happened_and_what_to_do(
    error: Exception, what: str, remedy: str, code: Exit
) -> None:
    problem = problem_for(SERVER, error)
    assert what in problem.what
    assert remedy in problem.remedy
    assert problem.code is code
    assert problem.refusal == (error.code if isinstance(error, CommandRefused) else "")


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


def test_an_ended_board_counts_although_the_seat_is_lost() -> None:
    problem = seat_lost_problem(seat_lost("Away.", snapshot("a5 y1:stuck", board(state="stuck"))))
    assert "had ended; what you banked counts. To sit" in problem.remedy


@pytest.mark.parametrize("end", ["racing", "stuck"])
def test_a_voided_race_counts_for_nothing_whether_the_own_board_had_ended_or_not(end: str) -> None:
    present = state_after(first=snapshot("a5 y1", board(count=4, state=end)))
    closed = structs.replace(table(phase="closed", version=9), previous=voided_race(f"{CODE}/1"))
    gone = events.SeatLost(table=CODE, reason="The operator has closed the table.")
    for event in (events.TableChanged(table=closed, now=0), gone):
        present = next_state(present, event, 0)
    problem = seat_lost_problem(present)
    assert problem.remedy.startswith(
        f"Race {CODE}/1 was voided, so it counts for nothing. To sit down again"
    )


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


def test_the_alarms_about_lost_races_stand_in_the_message_and_give_the_exit_code() -> None:
    problem = seat_lost_problem(seat_lost("Away."))
    assert with_alarms(problem, []) is problem
    alarmed = with_alarms(problem, ["Race a/1: gone.", "Missing: race a/2."])
    assert alarmed.what == f"{problem.what} ALARM: Race a/1: gone. Missing: race a/2."
    assert (alarmed.remedy, alarmed.code) == (problem.remedy, Exit.NOT_VERIFIED)


def test_only_connected_people_who_can_get_ready_and_are_not_are_left_behind() -> None:
    seats = [
        seat("y"),
        seat("a"),
        seat("r", connected=False),
        seat("m", blocked=True),
        seat("o"),
    ]
    assert left_behind(table(phase="gathering", seats=seats)) == ("ana",)


RECORD = race("canfield", 3, [Entrant("ana", banking), Entrant("raj", banking)])
PLAYER = RECORD.results[0].player


def test_a_result_is_computed_from_the_moves_of_the_record() -> None:
    best = best_in(RECORD, PLAYER)
    assert best is not None
    row = RECORD.results[0]
    assert (best.banked, best.net, best.reached) == (row.banked, row.net, row.reached)
    assert (best.race, best.game) == (RECORD.race_id, "canfield")
    assert best.counts[0] == (0, RECORD.opening.banked)
    assert best.counts[-1][1] == row.banked
    assert [at for at, _ in best.counts] == sorted(at for at, _ in best.counts)


def test_more_cards_are_better_and_as_many_earlier() -> None:
    assert is_better(BEST, None)
    assert is_better(replace(BEST, banked=11, reached=90_000), BEST)
    assert is_better(replace(BEST, reached=59_999), BEST)
    assert not is_better(BEST, BEST)
    assert not is_better(replace(BEST, banked=9, reached=1), BEST)


def test_cards_banked_by_the_deal_do_not_count() -> None:
    dealt = replace(BEST, banked=30, reached=None)
    assert not is_better(dealt, None)
    assert is_better(BEST, replace(dealt, banked=10))
