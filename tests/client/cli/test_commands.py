"""The command line as a whole: help, usage errors, error messages, exit codes."""

import logging
from pathlib import Path

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.commands import (
    COMMANDS,
    EXPOSURE_WARNING,
    WordsOnly,
    run,
)
from saratoga_client.problems import Exit, Problem


def test_help_leads_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["--help"]) == Exit.DONE
    text = capsys.readouterr().out
    assert text.index("Examples:") < text.index("Usage:") < text.index("Commands:")
    assert all(verb in text for verb in COMMANDS)


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, [verb, "--help"]) == Exit.DONE
    text = capsys.readouterr().out
    assert text.index("Examples:") < text.index(f"Usage: saratoga {verb}") < text.index("Options:")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["--version"]) == Exit.DONE
    assert capsys.readouterr().out.startswith("saratoga ")


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


def test_codes_may_be_written_in_capitals(capsys: pytest.CaptureFixture[str]) -> None:
    here = "ws://127.0.0.1:1"
    assert run(saratoga, ["watch", "Mint-OTTER-42", "--server", here]) == Exit.UNREACHABLE
    assert here in capsys.readouterr().err


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(saratoga, "main", fail)
    return run(saratoga, [])


def test_a_problem_is_printed_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = Problem("The cat sat on the cards.", "Lift the cat.", Exit.REFUSED)
    assert failing(problem, monkeypatch) == Exit.REFUSED
    assert capsys.readouterr().err == "saratoga: The cat sat on the cards. Lift the cat.\n"


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    assert failing(KeyboardInterrupt(), monkeypatch) == Exit.INTERRUPTED


def test_a_fault_of_ours_shows_no_trace_and_keeps_it_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(ZeroDivisionError("oh"), monkeypatch) == Exit.UNEXPECTED
    text = capsys.readouterr().err
    assert "Traceback" not in text
    report = Path(text.rstrip(".\n").split(" the file ")[1])
    assert "ZeroDivisionError: oh" in report.read_text(encoding="utf-8")


def test_loggers_show_no_trace_either() -> None:
    try:
        raise ZeroDivisionError
    except ZeroDivisionError as error:
        fault = (ZeroDivisionError, error, error.__traceback__)
    record = logging.LogRecord("saratoga", logging.ERROR, "", 0, "It broke.", None, fault)
    assert WordsOnly().format(record) == "saratoga: It broke."
