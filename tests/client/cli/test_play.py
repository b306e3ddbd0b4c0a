"""How verbs that play begin: in pictures or lines, and with a name."""

from collections.abc import Callable

import pytest

from saratoga_client.cli import play
from saratoga_client.cli.play import in_lines, with_a_name
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import Capabilities, capabilities
from saratoga_client.session import join
from saratoga_client.session.join import NameWanted


def terminal(term: str, *, is_terminal: bool = True) -> Callable[[], Capabilities]:
    return lambda: capabilities({"TERM": term}, is_terminal=is_terminal, size=(80, 24))


@pytest.mark.parametrize(
    ("term", "is_terminal", "plain", "lines", "says"),
    [
        ("xterm-256color", True, False, False, ""),
        ("xterm-256color", True, True, True, ""),
        ("xterm-256color", False, False, True, ""),
        ("dumb", True, False, True, "the terminal cannot redraw (TERM=dumb)"),
        ("dumb", True, True, True, ""),
    ],
)
def test_lines_come_where_pictures_cannot_and_where_they_are_wanted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    term: str,
    is_terminal: bool,
    plain: bool,
    lines: bool,
    says: str,
) -> None:
    monkeypatch.setattr(play, "this_terminal", terminal(term, is_terminal=is_terminal))
    assert in_lines(Settings(plain=plain)) is lines
    told = capsys.readouterr().err
    assert (says in told) if says else told == ""


def test_a_name_is_asked_for_between_two_visits_until_one_will_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []
    questions: list[str] = []
    answers = ["Anna", "Cleo"]

    async def work(name: str) -> str:
        tried.append(name)
        if not name:
            raise NameWanted("", "Your name at this house")
        if name == "Anna":
            raise NameWanted("Somebody has that name.", "Another name")
        return f"{name} sits"

    def ask(question: str) -> str:
        questions.append(question)
        return answers.pop(0)

    monkeypatch.setattr(join, "asked", ask)
    assert with_a_name(Settings(), work) == "Cleo sits"
    assert tried == ["", "Anna", "Cleo"]
    assert questions == ["Your name at this house", "Another name"]
    assert "Somebody has that name." in capsys.readouterr().err
