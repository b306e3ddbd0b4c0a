"""`saratoga rules` agrees with the judge, and can be read on any terminal."""

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.commands import run
from saratoga_client.cli.rules import page
from saratoga_client.problems import Exit
from saratoga_client.rules_text import plain_lines, table
from saratoga_rules.games import GAMES

every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_of_the_page_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = list(page(GAMES[name], width))
    assert max(map(len, lines)) <= width
    assert lines[0] == GAMES[name].title.upper()


@every_game
def test_headings_stand_apart_from_what_they_head(name: str) -> None:
    lines = list(page(GAMES[name], 80))
    for heading, rule in table(GAMES[name]):
        (line,) = (line for line in lines if line.startswith(f"{heading}  "))
        assert line.split("  ")[-1].strip() in rule


@every_game
def test_through_a_pipe_it_is_a_rule_a_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["rules", name]) == Exit.DONE
    said = capsys.readouterr().out.splitlines()
    assert said == list(plain_lines(GAMES[name]))
    assert said[0] == f"game: {GAMES[name].title}"
    assert all(": " in line for line in said)
