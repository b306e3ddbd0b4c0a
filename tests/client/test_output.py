"""Terminal commands in any text from a server never reach the terminal."""

import json
import logging
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kit.scripted_server import NOON, SEATS, STANDINGS, outcome, running
from kit.terminals import HOSTILE, OBEYED
from saratoga_client.__main__ import saratoga
from saratoga_client.cli import bot, leaderboard, verify
from saratoga_client.cli.commands import WordsOnly, run
from saratoga_client.cli.watch_display import display_for
from saratoga_client.output import OutputFormat, say, write_line
from saratoga_client.problems import Exit, Problem, refused
from saratoga_client.session import testimony
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import TableView, first_view
from saratoga_client.session.verification import Proof
from saratoga_protocol import events
from saratoga_protocol.leaderboard_rows import LeaderboardRow
from saratoga_rules.records.checks import Check

LINE_FEED = frozenset("\n")


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


def at_table(phase: str, *, over: bool = False) -> TableView:
    """A view of a table in which every text is hostile."""
    table = replace(running().table, phase=phase, seats=SEATS, notice="Anna is host now.")
    snapshot = events.Snapshot(table=table, now=NOON, next_id=1)
    if phase == "running":
        snapshot = replace(snapshot, standings=STANDINGS)
    if over:
        race_outcome = outcome()
        tied = [replace(result, tie="reached it later") for result in race_outcome.results]
        snapshot = replace(snapshot, outcome=replace(race_outcome, results=tied))
    return first_view(hostile(snapshot))


PICTURES = [at_table("gathering"), at_table("running"), at_table("over", over=True)]

ROW = LeaderboardRow(rank=1, player="a" * 16, name="x", value=1, race="x", elapsed=1)
PAGES: list[events.Leaderboard] = [
    hostile(
        events.Leaderboard(
            game="canfield",
            ranking=ranking,
            period="day",
            key="x",
            bots=bots,
            total=3,
            offset=0,
            rows=rows,
            me=replace(ROW, player="b" * 16),
        )
    )
    for ranking in ("best", "bankroll")
    for bots in (False, True)
    for rows in ([ROW], [])
]


def checked(text: str) -> None:
    assert "<U+001B>" in text or "\\u001b" in text, "the words did not get here"
    assert not OBEYED - LINE_FEED & set(text)
    assert not any(line.startswith("race mint-otter-42/3") for line in text.splitlines())


@pytest.mark.parametrize("picture", PICTURES, ids=["gathering", "running", "over"])
def test_watching_is_safe_in_every_manner(
    picture: TableView, capsys: pytest.CaptureFixture[str]
) -> None:
    before = at_table("gathering")
    empty = replace(before.table, seats=[], notice="", phase="")
    first = first_view(events.Snapshot(table=empty, now=NOON, next_id=1))
    display = display_for(OutputFormat.PLAIN, lambda: NOON)
    for view in (picture, first, picture):
        display.show(SessionState(player="p" * 16, table_view=view))
    checked(capsys.readouterr().out)
    display_for(OutputFormat.JSON, lambda: NOON).show(
        SessionState(player="p" * 16, table_view=picture)
    )
    text = capsys.readouterr().out
    checked(text)
    assert json.loads(text)["table"] == HOSTILE


@pytest.mark.parametrize("page", PAGES)
def test_leaderboards_are_safe_in_every_manner(
    page: events.Leaderboard, capsys: pytest.CaptureFixture[str]
) -> None:
    leaderboard.show(page, OutputFormat.PLAIN)
    checked(capsys.readouterr().out)
    leaderboard.show(page, OutputFormat.JSON)
    checked(capsys.readouterr().out)


def test_a_bot_s_results_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    race_outcome = hostile(outcome())
    for shown_in in (OutputFormat.PLAIN, OutputFormat.JSON):
        printer = bot.ResultPrinter(race_outcome.results[0].player, shown_in)
        printer.see(events.RaceOver(outcome=race_outcome))
        printer.print_unchecked()
        checked(capsys.readouterr().out)


def test_what_is_said_of_a_record_is_safe_and_still_in_colour(
    capsys: pytest.CaptureFixture[str],
) -> None:
    proof = Proof(
        checks=(Check("text", False, HOSTILE),),
        testimony=testimony.Testimony((), ()),
        record=None,
        void=None,
        standing=(),
        digest="",
    )
    verify.show(proof, OutputFormat.PLAIN)
    checked(capsys.readouterr().out)


def test_marks_of_our_own_keep_their_colours(capsys: pytest.CaptureFixture[str]) -> None:
    write_line(f" {HOSTILE}", mark="ok")
    assert capsys.readouterr().out.startswith("ok <U+001B>[2J")


@pytest.mark.parametrize(
    "problem",
    [
        Problem(HOSTILE, HOSTILE, Exit.REFUSED),
        Problem("It broke.", "It said:", Exit.REFUSED, said=(HOSTILE,)),
        refused(events.Refused(code="kicked", message=HOSTILE)),
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
    record = logging.LogRecord("saratoga", logging.ERROR, "", 0, "%s", (HOSTILE,), None)
    checked(WordsOnly().format(record))
