"""What is said of a race that the server voided."""

from msgspec.structs import replace

from kit.races import ANNA, void_record, voided_race
from kit.session_states import table
from saratoga_client.problems import Exit
from saratoga_client.session.voided import newly_voided, voided_problem, voided_words
from saratoga_protocol import events
from saratoga_rules.records.void_record import format_void_record


def test_the_words_say_why_and_what_it_means_and_how_to_check_it() -> None:
    assert voided_words(voided_race(), []) == (
        "voided by the server: the server's stored data of the race were damaged. It counts for "
        "nothing. To check it: saratoga verify mint-otter-42/1"
    )


def test_a_reason_that_this_program_does_not_know_is_shown_as_it_is() -> None:
    assert "voided by the server: no-nonce." in voided_words(
        replace(voided_race(), reason="no-nonce"), []
    )


def test_the_racer_who_left_the_countdown_is_named_if_the_seat_is_known() -> None:
    left = replace(voided_race(), reason="racer-left", left=ANNA)
    anna = events.Seat(player=ANNA, name="Anna")
    assert "voided: Anna left in the countdown. The deal" in voided_words(left, [anna])
    assert "voided: a racer left in the countdown. The deal" in voided_words(left, [])


def test_a_seed_is_called_open_only_if_it_is() -> None:
    countdown = replace(voided_race(), reason="server-away")
    assert "and its seed is open." in voided_words(countdown, [])
    unread = voided_words(replace(countdown, seed=""), [])
    assert "and the server says that it cannot read its seed." in unread


def test_only_races_voided_since_are_new() -> None:
    first, second = voided_race("mint-otter-42/1"), voided_race("mint-otter-42/2")
    before = replace(table(), voided=[first])
    assert newly_voided(before, replace(before, voided=[first, second])) == [second]
    assert newly_voided(before, replace(before, voided=[])) == []


def test_a_voided_race_has_no_boards_and_the_message_says_why() -> None:
    text = format_void_record(void_record("mint-otter-42/1"))
    for wanted in ("", "mint-otter-42/1"):
        problem = voided_problem(text, wanted)
        assert problem.code == Exit.REFUSED
        assert "was voided by the server (the server's stored data" in str(problem)
        assert "saratoga verify mint-otter-42/1" in problem.remedy


def test_the_void_record_of_another_race_is_named_as_such() -> None:
    problem = voided_problem(format_void_record(void_record("mint-otter-42/1")), "mint-otter-42/2")
    assert problem.code == Exit.NOT_VERIFIED
    assert "Race mint-otter-42/2 was asked for, but the record is of race mint-otter-42/1." in str(
        problem
    )
