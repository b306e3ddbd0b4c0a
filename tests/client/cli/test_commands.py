"""The command line as a whole: help, options, usage errors, questions, exit codes."""

import asyncio
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click
import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli import options
from saratoga_client.cli.frame import COMMANDS, EXPOSURE_WARNING, run
from saratoga_client.cli.options import in_lines, offline_options, play_options, viewing_options
from saratoga_client.cli.rules import page
from saratoga_client.local import paths
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import Capabilities, capabilities
from saratoga_client.plain.session import ask
from saratoga_client.problems import Exit, Problem
from saratoga_client.rules_text import plain_lines
from saratoga_rules.games import GAMES


@pytest.mark.parametrize("verb", ["", *COMMANDS])
def test_help_leads_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, [*verb.split(), "--help"]) == Exit.DONE
    text = capsys.readouterr().out
    usage = text.index(f"Usage: saratoga {verb}".rstrip())
    assert text.index("Examples:") < usage < text.index("Options:")
    assert verb or all(name in text[usage:] for name in COMMANDS)


@pytest.mark.parametrize(
    ("line", "is_warned"),
    [
        (["watch", "--server", "ws://anna:secret@example.org", "-h"], True),
        (["watch", "--server=ws://:p@ss@example.org", "-h"], True),
        (["join", "saratoga join ws://anna:secret@example.org/mint-otter-42", "-h"], True),
        (["watch", "--server", "ws://example.org:7470/a@b", "-h"], False),
        (["watch", "--server", "ws://anna@example.org:7470", "-h"], False),
        (["watch", "--server", "ws://[::1]:7470/mint-otter-42", "-h"], False),
    ],
)
def test_a_password_on_the_command_line_is_warned_about_once(
    line: list[str], is_warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    run(saratoga, line)
    assert capsys.readouterr().err.count(f"Warning: {EXPOSURE_WARNING}\n") == is_warned


@pytest.mark.parametrize("table", ["mint-otter-42", "ws://127.0.0.1:1/mint-otter-42"])
def test_a_table_in_place_of_a_command_is_joined(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, [table, "--help"]) == Exit.DONE
    assert "Take a seat at the table CODE" in capsys.readouterr().out
    assert run(saratoga, ["ws://127.0.0.1:1/mint-otter-42"]) == Exit.UNREACHABLE


@pytest.mark.parametrize(("word", "meant"), [("joinn", "join"), ("klondkie", "host klondike")])
def test_a_mistyped_command_gets_a_suggestion(
    word: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, [word]) == Exit.USAGE
    assert f"No such command '{word}'. Did you mean \"{meant}\"?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        ["dance"],
        ["leaderboard"],
        ["leaderboard", "tennis"],
        ["leaderboard", "canfield", "--period", "decade"],
        ["leaderboard", "canfield", "--json", "--plain"],
        ["leaderboard", "canfield", "--server", "http://example.org"],
        ["host", "canfield", "--server", "ws://127.0.0.1:99999"],
        ["host", "canfield", "--server", "ws://[bad"],
        ["host", "canfield", "--public-url", "cards.example.org"],
        ["watch", "mint_otter"],
        ["watch"],
        ["bot", "mint-otter-42", "--strength", "divine"],
        ["bot", "mint-otter-42", "--races", "0"],
        ["verify", "no-such-file"],
        ["completion", "tcsh"],
    ],
)
def test_a_usage_error_is_explained_on_standard_error(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, line) == Exit.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.strip()
    assert "Traceback" not in shown.err


def test_pasted_control_characters_are_escaped_when_they_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pasted = "ws://server\x1bc:1/mint-otter-42"
    assert run(saratoga, ["join", pasted, "--server", "ws://127.0.0.1:1"]) == Exit.USAGE
    output = capsys.readouterr().err
    assert "The URL leads to ws://server<U+001B>c:1, and --server" in output
    assert "\x1b" not in output


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(saratoga, "main", fail)
    return run(saratoga, [])


def test_an_error_has_its_words_and_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = Problem("The cat sat on the cards.", "Lift the cat.", Exit.REFUSED)
    assert failing(problem, monkeypatch) == Exit.REFUSED
    assert capsys.readouterr().err == "saratoga: The cat sat on the cards. Lift the cat.\n"
    assert failing(KeyboardInterrupt(), monkeypatch) == Exit.INTERRUPTED


def test_a_fault_of_ours_shows_no_trace_and_keeps_it_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(ZeroDivisionError("oh"), monkeypatch) == Exit.UNEXPECTED
    text = capsys.readouterr().err
    assert "Traceback" not in text
    report = Path(text.rstrip(".\n").split(" the file ")[1])
    assert "ZeroDivisionError: oh" in report.read_text(encoding="utf-8")


THERE = "wss://cards.example.org"


def settings_of(*words: str, options: Callable[[Any], Any] = play_options) -> Settings | int:
    """Return the settings that a command gets with these options, or the exit code of the program."""
    received: list[Settings] = []

    @click.group()
    def program() -> None:
        pass

    @program.command()
    @options
    def command(settings: Settings) -> None:
        received.append(settings)

    exit_code = run(program, ["command", *words])
    return received[0] if received else exit_code


def write_settings(text: str) -> None:
    path = paths.config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_flags_win_over_the_environment_and_that_over_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_settings('theme = "paper"\nname = "File"\nquick = true\nascii = true\n')
    monkeypatch.setenv("SARATOGA_NAME", "Environment")
    monkeypatch.setenv("SARATOGA_QUICK", "0")
    monkeypatch.setenv("SARATOGA_SERVER", "ws://environment:1")
    chosen = settings_of("--server", THERE, "--no-ascii", "--suits", "four")
    assert chosen == Settings(
        server=THERE,
        name="Environment",
        theme="paper",
        quick=False,
        ascii=False,
        suits=dict.fromkeys(GAMES, "four"),
    )


def test_commands_refuse_the_server_and_name_options_they_do_not_need() -> None:
    assert settings_of("--ascii", options=offline_options) == Settings(ascii=True)
    assert settings_of("--server", THERE, options=offline_options) == Exit.USAGE
    assert settings_of("--name", "Anna", options=viewing_options) == Exit.USAGE
    assert settings_of("--server", THERE, options=viewing_options) == Settings(server=THERE)


@pytest.mark.parametrize(
    ("words", "server"),
    [
        (["Mint-OTTER-42"], "ws://127.0.0.1:1"),
        (["ws://127.0.0.1:2/mint-otter-42"], "ws://127.0.0.1:2"),
        (["saratoga join ws://127.0.0.1:2/mint-otter-42"], "ws://127.0.0.1:2"),
        (["ws://127.0.0.1:2/mint-otter-42", "--server", "ws://127.0.0.1:2/"], "ws://127.0.0.1:2"),
        (["ws://127.0.0.1:2/mint-otter-42", "--server", "ws://other:1"], None),
    ],
)
@pytest.mark.parametrize("command", ["join", "watch", "bot"])
def test_a_url_names_the_server_and_a_conflicting_flag_is_refused(
    command: str,
    words: list[str],
    server: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SARATOGA_SERVER", "ws://127.0.0.1:1")
    assert run(saratoga, [command, *words]) == (Exit.UNREACHABLE if server else Exit.USAGE)
    assert (f" at {server}" if server else "and --server to") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("term", "is_terminal", "plain", "lines", "message"),
    [
        ("xterm-256color", True, False, False, ""),
        ("xterm-256color", True, True, True, ""),
        ("xterm-256color", False, False, True, ""),
        ("dumb", True, False, True, "the terminal cannot redraw (TERM=dumb)"),
        ("dumb", True, True, True, ""),
    ],
)
def test_lines_of_text_replace_a_screen_that_cannot_be_drawn_or_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    term: str,
    is_terminal: bool,
    plain: bool,
    lines: bool,
    message: str,
) -> None:
    terminal = capabilities({"TERM": term}, is_terminal=is_terminal, size=(80, 24))
    monkeypatch.setattr(options, "this_terminal", lambda: terminal)
    assert in_lines(Settings(plain=plain)) is lines
    printed = capsys.readouterr().err
    assert (message in printed) if message else printed == ""


async def test_the_event_loop_runs_while_the_player_types(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed: SimpleQueue[bytes] = SimpleQueue()
    monkeypatch.setattr("saratoga_client.plain.session.read_input", lambda size: typed.get())
    asking = asyncio.create_task(ask("Your name\x1b"))
    await asyncio.sleep(0)
    assert not asking.done()
    typed.put("  Zoë \n".encode())
    assert await asking == "Zoë"
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "Your name<U+001B>: ")
    typed.put(b"")
    with pytest.raises(click.Abort):
        await ask("Your name")


@pytest.mark.parametrize("command", ["practice", "rules", "leaderboard"])
def test_a_script_without_a_game_gets_a_usage_error_with_all_games(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, [command]) == Exit.USAGE
    error = capsys.readouterr().err
    assert "Name a game: " in error
    assert all(name in error for name in GAMES)
    assert f"saratoga {command} klondike" in error


def test_a_person_at_a_terminal_chooses_a_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def a_terminal() -> Capabilities:
        return capabilities({"TERM": "xterm"}, is_terminal=True, size=(80, 24))

    monkeypatch.setattr(options, "this_terminal", a_terminal)
    monkeypatch.setattr("sys.stdin", StringIO("caprise\ncaprice\n"))
    assert run(saratoga, ["rules", "--plain"]) == Exit.DONE
    shown = capsys.readouterr()
    assert "Which game? (klondike, canfield" in shown.err
    assert "'caprise' is not one of" in shown.err
    assert "Caprice" in shown.out


every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_of_the_page_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = list(page(GAMES[name], width))
    assert max(map(len, lines)) <= width
    assert lines[0] == GAMES[name].title.upper()


@every_game
def test_through_a_pipe_it_is_a_rule_a_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["rules", name]) == Exit.DONE
    said = capsys.readouterr().out.splitlines()
    assert said == list(plain_lines(GAMES[name]))
    assert said[0] == f"game: {GAMES[name].title}"
    assert all(": " in line for line in said)
