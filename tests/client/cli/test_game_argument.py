"""A newcomer who names no game chooses one; a script gets the list of games."""

from io import StringIO

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli import game_argument
from saratoga_client.cli.commands import run
from saratoga_client.local.terminal import Capabilities, capabilities
from saratoga_client.problems import Exit
from saratoga_rules.games import GAMES


@pytest.mark.parametrize("command", ["practice", "rules", "leaderboard"])
def test_a_script_without_a_game_gets_a_usage_error_with_all_games(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, [command]) == Exit.USAGE
    error = capsys.readouterr().err
    assert "Name a game: " in error
    assert all(name in error for name in GAMES)
    assert f"saratoga {command} klondike" in error


@pytest.mark.parametrize("command", ["rules", "leaderboard"])
def test_the_help_names_all_games_in_their_order(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, [command, "--help"]) == Exit.DONE
    text = " ".join(capsys.readouterr().out.split())
    *first, last = GAMES
    assert f"The games are {', '.join(first)} and {last}." in text


def test_a_person_at_a_terminal_chooses_a_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def a_terminal() -> Capabilities:
        return capabilities({"TERM": "xterm"}, is_terminal=True, size=(80, 24))

    monkeypatch.setattr(game_argument, "this_terminal", a_terminal)
    monkeypatch.setattr("sys.stdin", StringIO("caprise\ncaprice\n"))
    assert run(saratoga, ["rules", "--plain"]) == Exit.DONE
    shown = capsys.readouterr()
    assert "Which game? (klondike, canfield" in shown.err
    assert "'caprise' is not one of" in shown.err
    assert "Caprice" in shown.out
