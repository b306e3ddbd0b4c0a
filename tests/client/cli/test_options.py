"""Options that several commands share: their order of precedence, and pasted invitations."""

from collections.abc import Callable
from typing import Any

import click
import pytest

from saratoga_client.cli import options
from saratoga_client.cli.commands import run
from saratoga_client.cli.options import (
    TABLE,
    in_lines,
    offline_options,
    play_options,
    server_of,
    server_option,
    viewing_options,
)
from saratoga_client.local import paths
from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import capabilities
from saratoga_client.problems import Exit
from saratoga_client.session.invitation import Destination
from saratoga_rules.games import GAMES

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


def test_without_options_all_settings_are_the_defaults() -> None:
    assert settings_of() == Settings()


def test_commands_refuse_the_server_and_name_options_they_do_not_need() -> None:
    assert settings_of("--ascii", options=offline_options) == Settings(ascii=True)
    assert settings_of("--server", THERE, options=offline_options) == Exit.USAGE
    assert settings_of("--name", "Anna", options=viewing_options) == Exit.USAGE
    assert settings_of("--server", THERE, options=viewing_options) == Settings(server=THERE)


def test_a_fault_in_the_file_ends_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    write_settings("cap = 10\nplain = maybe\n")
    assert settings_of() == Exit.USAGE
    write_settings('cap = 10\nplain = "maybe"\n')
    assert settings_of() == Exit.USAGE
    assert "line 2: plain cannot be" in capsys.readouterr().err


def server_for(*words: str) -> str:
    """Return the server address that a command without a table uses."""
    received: list[str] = []

    @click.group()
    def program() -> None:
        pass

    @program.command()
    @server_option
    def command(server: str) -> None:
        received.append(server)

    assert run(program, ["command", *words]) == Exit.DONE
    return received[0]


def test_the_server_comes_from_flag_environment_file_or_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SARATOGA_SERVER", raising=False)
    assert server_for() == DEFAULT_SERVER
    write_settings('server = "ws://file:1"\n')
    assert server_for() == "ws://file:1"
    monkeypatch.setenv("SARATOGA_SERVER", "ws://environment:1")
    assert server_for() == "ws://environment:1"
    assert server_for("--server", THERE) == THERE


def server_for_table(*words: str) -> str | int:
    """Return the server address that a command with a table uses, or the exit code of the program."""
    received: list[str] = []

    @click.group()
    def program() -> None:
        pass

    @program.command()
    @click.argument("table", type=TABLE)
    @server_option
    def command(table: Destination, server: str) -> None:
        received.append(server_of(table, server))

    exit_code = run(program, ["command", *words])
    return received[0] if received else exit_code


def test_a_url_names_the_server_and_a_conflicting_flag_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SARATOGA_SERVER", "ws://environment:1")
    assert server_for_table("Mint-Otter-42") == "ws://environment:1"
    assert server_for_table(f"{THERE}/mint-otter-42") == THERE
    assert server_for_table(f"saratoga join {THERE}/mint-otter-42") == THERE
    assert server_for_table(f"{THERE}/mint-otter-42", "--server", f"{THERE}/") == THERE
    assert server_for_table(f"{THERE}/mint-otter-42", "--server", "ws://other:1") == Exit.USAGE


@pytest.mark.parametrize("text", ["mint otter", "", THERE, "mint-otter-"])
def test_text_that_names_no_table_is_a_usage_error(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert server_for_table(text) == Exit.USAGE
    assert "mint-otter-42" in capsys.readouterr().err


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
