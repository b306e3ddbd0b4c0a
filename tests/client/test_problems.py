"""Errors for players: the code with which a command ends, and what to do."""

import pytest

from saratoga_client.problems import Exit, Problem, alarmed_at_end, refused, too_old, unreachable
from saratoga_protocol.events import Refused


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("no_such_table", Exit.NOT_FOUND),
        ("no_such_race", Exit.NOT_FOUND),
        ("table_closed", Exit.NOT_FOUND),
        ("table_full", Exit.REFUSED),
    ],
)
def test_a_refusal_ends_with_a_code_by_its_reason(reason: str, code: Exit) -> None:
    problem = refused(Refused(code=reason, message="That table is not here."))
    assert (problem.code, problem.refusal) == (code, reason)
    assert str(problem) == "That table is not here."


def test_a_refusal_that_may_pass_says_so() -> None:
    problem = refused(Refused(code="busy", message="The server is busy.", retry=True))
    assert str(problem) == "The server is busy. Try again later."


def test_the_message_is_what_happened_and_then_the_remedy() -> None:
    assert (
        str(Problem("It rains.", "Take an umbrella.", Exit.USAGE)) == "It rains. Take an umbrella."
    )


def test_problems_of_a_server_name_its_address() -> None:
    for problem, code in (
        (unreachable("ws://here:1", "no server listens there"), Exit.UNREACHABLE),
        (too_old("ws://here:1"), Exit.TOO_OLD),
    ):
        assert "ws://here:1" in problem.what
        assert problem.remedy
        assert problem.code == code


def test_a_program_ends_with_the_alarms_that_were_raised() -> None:
    with pytest.raises(Problem) as ended, alarmed_at_end(["One.", "Two.", "One."]):
        pass
    problem = ended.value
    assert (str(problem), problem.said) == ("ALARM: One.", ("ALARM: Two.",))
    assert problem.code is Exit.NOT_VERIFIED


def test_a_program_without_an_alarm_ends_as_it_would() -> None:
    with alarmed_at_end([]):
        pass
    trouble = Problem("It rains.", "", Exit.REFUSED)
    for alarms, what in (([], "It rains."), (["One."], "It rains. ALARM: One.")):
        trouble = Problem(what, "", Exit.REFUSED)
        with pytest.raises(Problem) as ended, alarmed_at_end(alarms):
            raise trouble
        assert ended.value is trouble, "the alarm is in the message already"


def test_the_alarms_follow_the_problem_that_ended_the_program() -> None:
    with pytest.raises(Problem) as ended, alarmed_at_end(["One."]):
        raise Problem("It rains.", "Take an umbrella.", Exit.REFUSED, said=("Log.",))
    problem = ended.value
    assert (str(problem), problem.said) == ("It rains. Take an umbrella.", ("Log.", "ALARM: One."))
    assert problem.code is Exit.NOT_VERIFIED
