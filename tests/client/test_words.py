"""Sentences: problems, wrapping, output and strange characters."""

import doctest
import json
import logging
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

import saratoga_client
from kit.messages import BANKROLL, BEST, HOSTILE, OBEYED
from kit.session_states import START, outcome, snapshot, table
from saratoga_client.__main__ import saratoga
from saratoga_client.cli import bot, leaderboard, verify
from saratoga_client.cli.frame import WordsOnly, run
from saratoga_client.cli.watch import printer
from saratoga_client.net.errors import CommandRefused
from saratoga_client.output import OutputFormat, say
from saratoga_client.problems import Exit, Problem, alarmed_at_end
from saratoga_client.session.open_connection import problem_for
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.table_view import TableView, first_view
from saratoga_client.session.verdict import Proof
from saratoga_client.text import message_lines
from saratoga_protocol import events
from saratoga_rules.records.verify import Check


def poisoned(value: Any) -> Any:
    """Return the message with every text made hostile, except those that the client compares."""
    kept = {"player", "host", "phase", "ranking", "type"}
    if isinstance(value, dict):
        return {key: word if key in kept else poisoned(word) for key, word in value.items()}
    if isinstance(value, list):
        return [poisoned(part) for part in value]
    return HOSTILE if isinstance(value, str) else value


def hostile(event: msgspec.Struct) -> Any:
    return msgspec.convert(poisoned(msgspec.to_builtins(event)), type(event))


RESULT = "o14 y11:cash-out"


def at_table(phase: str, *, over: bool = False) -> TableView:
    """A view of a table in which every text is hostile."""
    there = replace(table("yo", phase), notice="Anna is host now.")
    shown = snapshot(RESULT if phase == "running" else "", shown=there)
    return first_view(hostile(replace(shown, outcome=outcome(RESULT) if over else None)))


PICTURES = [at_table("gathering"), at_table("running"), at_table("over", over=True)]


def checked(text: str) -> None:
    assert "<U+001B>" in text or "\\u001b" in text, "the words did not get here"
    assert not (OBEYED - {"\n"}) & set(text)
    assert not any(line.startswith("race mint-otter-42/3") for line in text.splitlines())


@pytest.mark.parametrize("picture", PICTURES, ids=["gathering", "running", "over"])
def test_watching_is_safe_in_every_manner(
    picture: TableView, capsys: pytest.CaptureFixture[str]
) -> None:
    before = at_table("gathering")
    empty = replace(before.table, seats=[], notice="", phase="")
    first = first_view(events.Snapshot(table=empty, now=START))
    show = printer(OutputFormat.PLAIN, lambda: START)
    for view in (picture, first, picture):
        show(SessionState(player="p" * 16, table_view=view))
    checked(capsys.readouterr().out)
    printer(OutputFormat.JSON, lambda: START)(SessionState(player="p" * 16, table_view=picture))
    text = capsys.readouterr().out
    checked(text)
    assert json.loads(text)["table"] == HOSTILE


@pytest.mark.parametrize("page", [BEST, BANKROLL])
@pytest.mark.parametrize("form", [OutputFormat.PLAIN, OutputFormat.JSON])
def test_leaderboards_are_safe_in_every_manner(
    page: events.Leaderboard, form: OutputFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    leaderboard.show(hostile(page), form)
    checked(capsys.readouterr().out)


async def test_a_bot_s_results_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    raced = hostile(outcome(RESULT))
    for shown_in in (OutputFormat.PLAIN, OutputFormat.JSON):
        store = StateStore(lambda: 0)
        store.replace(SessionState(player="", table_view=at_table("over", over=True)))
        store.close()
        player = raced.results[0].player
        await bot.print_results(store.states(), player, HOSTILE, shown_in)
        checked(capsys.readouterr().out)


def test_what_is_said_of_a_record_is_safe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    proof = Proof(
        checks=(Check("text", False, HOSTILE),),
        findings=(),
        worth="unseen",
        record=None,
        standing=(),
        text="",
        digest="",
    )
    verify.show(proof, OutputFormat.PLAIN)
    said = capsys.readouterr().out
    assert said.startswith("WRONG text: <U+001B>[2J")
    checked(said)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(HOSTILE, HOSTILE, Exit.REFUSED),
        Problem("It broke.", "It said:", Exit.REFUSED, said=(HOSTILE,)),
        problem_for("", CommandRefused(events.Refused(code="kicked", message=HOSTILE))),
        ValueError(HOSTILE),
    ],
    ids=["problem", "another program", "refusal", "fault"],
)
def test_problems_are_safe(
    problem: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(saratoga, "main", fail)
    assert run(saratoga, []) != Exit.DONE
    checked(capsys.readouterr().err)


def test_messages_and_logs_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    checked(capsys.readouterr().err)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError as error:
        fault = (ZeroDivisionError, error, error.__traceback__)
    record = logging.LogRecord("saratoga", logging.ERROR, "", 0, "%s", (HOSTILE,), fault)
    assert "Traceback" not in WordsOnly().format(record)
    checked(WordsOnly().format(record))


def test_a_program_ends_with_the_alarms_that_were_raised() -> None:
    with pytest.raises(Problem) as ended, alarmed_at_end(["One.", "Two.", "One."]):
        pass
    problem = ended.value
    assert (str(problem), problem.said) == ("ALARM: One.", ("ALARM: Two.",))
    assert problem.code is Exit.NOT_VERIFIED


def test_a_program_without_an_alarm_ends_as_it_would() -> None:
    with alarmed_at_end([]):
        pass
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


LONG = "The server on this machine stops now; banked cards are kept, and so is the leaderboard."


@pytest.mark.parametrize(
    "command",
    [
        "saratoga join ws://192.168.1.7:7470/mint-otter-42",
        "saratoga verify mint-otter-42/3#oak-pear-lamp-river --server wss://cards.example.org",
        "saratoga host --port 41233",
        "saratoga practice caprice --seed 'it is mine'",
        "saratoga doctor",
    ],
)
@pytest.mark.parametrize("width", [10, 24, 40, 79])
def test_a_command_stays_on_one_line(command: str, width: int) -> None:
    lines = message_lines(f"You are no longer at this table. To sit down again: {command}", width)
    assert any(command in line for line in lines)


def test_words_after_a_command_wrap_again() -> None:
    text = f"To see more: saratoga --help. {LONG}"
    assert all(len(line) <= 40 for line in message_lines(text, 40))


def test_a_line_of_its_own_is_not_changed() -> None:
    text = "To return:\n  saratoga join mint-otter-42 --server wss://cards.example.org --plain"
    assert message_lines(text, 30) == text.split("\n")


def test_wide_characters_of_names_count_with_the_columns_that_they_take() -> None:
    names = ["明日香の山", "강남스타일", "Zoë", "ピカチュウ", "Bert"]
    text = f"Not in this race, because not connected: {', '.join(names)}."
    lines = message_lines(text, 40)
    assert all(cell_len(line) <= 40 for line in lines)
    assert " ".join(lines) == text


@given(text=st.text(alphabet="ab -./\n", max_size=60), width=st.integers(1, 30))
def test_no_word_is_lost_or_broken(text: str, width: int) -> None:
    assert "\n".join(message_lines(text, width)).split() == text.split()


@pytest.mark.parametrize("words", [("--plain", "rules"), ("--server", "ws://a:1", "rules")])
def test_options_of_a_command_must_follow_it(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, [*words, "canfield"]) == Exit.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Options go after the command: saratoga rules" in shown.err


def test_the_examples_in_the_docstrings_hold() -> None:
    names = [each.name for each in walk_packages(saratoga_client.__path__, "saratoga_client.")]
    found = [doctest.testmod(import_module(name)) for name in names if "__main__" not in name]
    assert sum(each.attempted for each in found) > 20
    assert sum(each.failed for each in found) == 0
