"""The script for shell completion, and the completions that it gives to a shell."""

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.commands import run
from saratoga_client.problems import Exit


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "complete -o nosort -F _saratoga_completion saratoga"),
        ("zsh", "#compdef saratoga"),
        ("fish", "complete --no-files --command saratoga"),
    ],
)
def test_each_shell_gets_code_in_its_own_language(
    shell: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, ["completion", shell]) == Exit.DONE
    shown = capsys.readouterr()
    assert line in shown.out
    assert f"_SARATOGA_COMPLETE={shell}_complete" in shown.out
    assert shown.err == ""


def test_a_shell_that_asks_is_offered_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_SARATOGA_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "saratoga re")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        run(saratoga, [])
    assert capsys.readouterr().out.split() == ["plain,replay"]
