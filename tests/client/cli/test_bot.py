"""What `saratoga bot` prints of a race, and where it looks for the table."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.table_views import outcome
from saratoga_client.__main__ import saratoga
from saratoga_client.bots.player import Report
from saratoga_client.cli import bot
from saratoga_client.cli.bot import show
from saratoga_client.cli.commands import run
from saratoga_client.output import OutputFormat
from saratoga_client.problems import Exit
from saratoga_client.session.race_witness import Alarm


def test_programs_get_the_whole_result(capsys: pytest.CaptureFixture[str]) -> None:
    raced = outcome()
    result = raced.results[0]
    show(raced, result, OutputFormat.JSON)
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == "saratoga.bot.v1"
    assert (printed["race"], printed["game"]) == (raced.race, raced.game)
    for key in ("name", "player", "place", "banked", "net", "state", "moves", "tie"):
        assert printed[key] == getattr(result, key)


def test_people_get_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    raced = outcome()
    result = raced.results[-1]
    show(raced, result, OutputFormat.PLAIN)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{raced.race}: place {result.place} of {len(raced.results)}, ")
    assert f" {result.banked} banked, " in line
    assert line.endswith(result.state)


def test_the_bot_goes_to_the_server_of_the_url(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["bot", "ws://127.0.0.1:1/mint-otter-42"]) == Exit.UNREACHABLE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "ws://127.0.0.1:1" in shown.err


def test_a_bot_that_found_a_lie_says_so_and_ends_with_7(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class LiedTo:
        name, player = "Otto", "o" * 16

        async def play(self, strength: str, *, alarm: Alarm, **options: object) -> Report:
            alarm("mint-otter-42/3", ("the deal was changed",))
            return Report(alarms=["Race mint-otter-42/3: the deal was changed."])

    @asynccontextmanager
    async def seated(*args: object, **options: object) -> AsyncIterator[LiedTo]:
        yield LiedTo()

    monkeypatch.setattr(bot, "seated_bot", seated)
    assert run(saratoga, ["bot", "ws://127.0.0.1:1/mint-otter-42"]) == Exit.NOT_VERIFIED
    assert "ALARM: Race mint-otter-42/3: the deal was changed." in capsys.readouterr().err
