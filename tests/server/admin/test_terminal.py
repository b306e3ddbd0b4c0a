"""Answers to the administrator are visible text, whatever players are called."""

import json

import pytest

from kit.terminals import HOSTILE, TRICKS
from saratoga_protocol.visible_text import UNSEEN
from saratoga_server.admin.terminal import failure, say, say_json


@pytest.mark.parametrize("trick", TRICKS)
def test_an_answer_is_one_visible_line(trick: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"Anna{trick} is banned.")
    line = capsys.readouterr().out.removesuffix("\n")
    assert line.isprintable()
    assert line.startswith("Anna<U+")


def test_json_is_one_visible_line_that_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"player": HOSTILE})
    line = capsys.readouterr().out.removesuffix("\n")
    assert not UNSEEN.search(line)
    assert json.loads(line) == {"player": HOSTILE}


def test_a_failure_keeps_its_lines_and_shows_all_other_characters() -> None:
    assert failure("The store did not start.\nIts log: \x1b[2J").message == (
        "The store did not start.\nIts log: <U+001B>[2J"
    )
