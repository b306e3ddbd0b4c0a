"""What `saratoga bot` prints of a race, and where it looks for the table."""

import json

import pytest

from kit.scripted_server import outcome
from saratoga_client.__main__ import saratoga
from saratoga_client.cli.bot import ResultPrinter
from saratoga_client.cli.commands import run
from saratoga_client.output import OutputFormat
from saratoga_client.problems import Exit
from saratoga_client.session.state import Verification
from saratoga_protocol.events import RaceOver


def test_programs_get_the_whole_result(capsys: pytest.CaptureFixture[str]) -> None:
    raced = outcome()
    result = raced.results[0]
    printer = ResultPrinter(result.player, OutputFormat.JSON)
    printer.see(RaceOver(outcome=raced))
    assert capsys.readouterr().out == "", "the record is not checked yet"
    printer.warn(raced.race, ("the deal was changed",))
    printer.checked("another-race-1/1", Verification(True, "Good."))
    printer.checked(raced.race, Verification(False, "Bad."))
    printed = json.loads(capsys.readouterr().out)
    assert printed["verification"] == {"race": raced.race, "verified": False, "sentence": "Bad."}
    assert printed["alarms"] == [f"Race {raced.race}: the deal was changed."]
    assert printed["schema"] == "saratoga.bot.v1"
    assert (printed["race"], printed["game"]) == (raced.race, raced.game)
    for key in ("name", "player", "place", "banked", "net", "state", "moves", "tie"):
        assert printed[key] == getattr(result, key)


def test_a_result_whose_record_was_not_checked_is_printed_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    raced = outcome()
    printer = ResultPrinter(raced.results[0].player, OutputFormat.JSON)
    printer.see(RaceOver(outcome=raced))
    printer.print_unchecked()
    printer.print_unchecked()
    printed = json.loads(capsys.readouterr().out)
    assert (printed["race"], printed["verification"]) == (raced.race, None)


def test_people_get_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    raced = outcome()
    result = raced.results[-1]
    ResultPrinter(result.player, OutputFormat.PLAIN).see(RaceOver(outcome=raced))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{raced.race}: place {result.place} of {len(raced.results)}, ")
    assert f" {result.banked} banked, " in line
    assert line.endswith(result.state)


def test_the_bot_goes_to_the_server_of_the_url(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["bot", "ws://127.0.0.1:1/mint-otter-42"]) == Exit.UNREACHABLE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "ws://127.0.0.1:1" in shown.err
