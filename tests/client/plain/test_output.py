import sys

import pytest

from saratoga_client.plain.output import LineOutput


def test_lines_are_written_without_a_prompt_to_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    output = LineOutput(prompts=False)
    output.write("stock: 34", "waste: empty")
    output.prompt()
    output.write_all(iter(["reserve: 13, 4H"]))
    assert capsys.readouterr().out == "stock: 34\nwaste: empty\nreserve: 13, 4H\n"


def test_the_prompt_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    output = LineOutput(prompts=True)
    output.prompt()
    output.prompt()
    assert capsys.readouterr().out == "> "


def test_an_event_is_not_written_behind_the_prompt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = LineOutput(prompts=True)
    output.prompt()
    output.write("Otto [bot] took the lead", "2. Anna")
    output.prompt()
    assert capsys.readouterr().out == "> \nOtto [bot] took the lead\n2. Anna\n> "


def test_the_answer_to_a_typed_line_follows_it_directly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = LineOutput(prompts=True)
    output.prompt()
    output.line_typed()
    output.write("clock: 3:12 gone, 6:48 left")
    assert capsys.readouterr().out == "> clock: 3:12 gone, 6:48 left\n"


def test_control_characters_are_made_visible(
    capsys: pytest.CaptureFixture[str],
) -> None:
    LineOutput(prompts=False).write("seat: An\x1b[2Jna")
    assert capsys.readouterr().out == "seat: An<U+001B>[2Jna\n"


def test_a_long_line_is_wrapped_between_words_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    line = "note: type ready to take part in the next race, and start when the others are ready"
    LineOutput(prompts=False).write(line)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(len(each) <= 40 for each in lines)
    assert " ".join(lines) == line


def test_a_long_line_stays_one_line_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    line = "note: type ready to take part in the next race, and start when the others are ready"
    LineOutput(prompts=False).write(line)
    assert capsys.readouterr().out == f"{line}\n"
