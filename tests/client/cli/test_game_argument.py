"""A newcomer who names no game chooses one; a script gets the list of games."""

from collections.abc import Callable

import click
import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli import game_argument
from saratoga_client.cli.commands import run
from saratoga_client.cli.game_argument import choose
from saratoga_client.local.terminal import Capabilities, capabilities
from saratoga_client.problems import Exit
from saratoga_rules.games import GAMES


def keys(*pressed: str) -> Callable[[], str]:
    """Return a reader of these keys, one after another."""
    return iter(pressed).__next__


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
    monkeypatch.setattr(click, "getchar", keys("6"))
    assert run(saratoga, ["rules", "--plain"]) == Exit.DONE
    shown = capsys.readouterr()
    assert "Which game?" in shown.err
    assert "Caprice" in shown.out


@pytest.mark.parametrize(
    ("pressed", "game"),
    [
        (("\r",), "klondike"),
        (("4",), "lafayette"),
        (("9", "0", "x", "3"), "canfield-aisleriot"),
        (("\x1b[B", "\x1b[B", "\x1b[A", "\r"), "canfield"),
        (("\x1bOA", "\r"), "caprice"),
        (("\x1b[B\x1b[B\r",), "canfield-aisleriot"),
        (("\xe0P", "\r"), "canfield"),
    ],
)
def test_arrow_keys_and_numbers_choose(pressed: tuple[str, ...], game: str) -> None:
    assert choose(keys(*pressed), redraws=True) == game


def test_the_list_is_drawn_in_place_and_marks_the_chosen_game(
    capsys: pytest.CaptureFixture[str],
) -> None:
    choose(keys("j", "\r"), redraws=True)
    before, _, after = capsys.readouterr().err.partition(f"\x1b[{len(GAMES)}A")
    assert " > 1  klondike " in before
    assert " > 2  canfield " in after


def test_a_terminal_that_cannot_redraw_is_asked_for_the_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert choose(keys("\r", "\x1b[B", "5"), redraws=False) == "lady-palk"
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert ">" not in shown


@pytest.mark.parametrize("key", ["q", "\x1b", ""])
def test_a_player_may_choose_none(key: str) -> None:
    with pytest.raises(click.Abort):
        choose(keys(key), redraws=True)
