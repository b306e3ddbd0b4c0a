"""The checks of `saratoga doctor`: each reports ok, a warning or a failure, and a remedy."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kit.lobbies import open_lobby
from saratoga_client.cli import doctor_checks
from saratoga_client.cli.doctor_checks import (
    Finding,
    Severity,
    check_connection,
    of_files,
    of_parts,
    of_terminal,
)
from saratoga_client.local import identity, key_files, paths, server_process
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import Capabilities, capabilities

VARIABLES = ("TMUX", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM_PROGRAM", "VTE_VERSION")


@pytest.fixture(autouse=True)
def _no_terminal_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def terminal(
    term: str = "xterm-256color",
    *,
    is_terminal: bool = True,
    size: tuple[int, int] = (80, 24),
    **environment: str,
) -> Capabilities:
    return capabilities({"TERM": term, **environment}, is_terminal=is_terminal, size=size)


def found(capable: Capabilities, settings: Settings = Settings()) -> dict[str, Finding]:  # noqa: B008 - frozen
    return {finding.name: finding for finding in of_terminal(capable, settings)}


def files() -> dict[str, Finding]:
    return {finding.name: finding for finding in of_files()}


def test_a_capable_terminal_passes_every_check() -> None:
    findings = found(terminal())
    assert set(findings) == {"terminal", "size", "colours", "signs", "mouse", "clipboard"}
    assert {finding.verdict for finding in findings.values()} == {Severity.OK}


@pytest.mark.parametrize(
    ("capable", "name", "says", "remedy"),
    [
        (terminal("dumb"), "terminal", "cannot redraw (TERM=dumb)", "xterm-256color"),
        (terminal(is_terminal=False), "terminal", "not a terminal", "run saratoga in a terminal"),
        (terminal(size=(79, 24)), "size", "79 columns, 24 rows", "80 x 24 or larger"),
        (terminal("vt100"), "colours", "none; red suits are hollow", "COLORTERM"),
        (terminal("linux"), "signs", "the Linux console", "--no-ascii"),
        (terminal(LANG="C"), "signs", "letters for suits", "LANG=C.UTF-8"),
    ],
)
def test_a_limited_terminal_gets_a_note_with_a_remedy(
    capable: Capabilities, name: str, says: str, remedy: str
) -> None:
    finding = found(capable)[name]
    assert finding.verdict is Severity.NOTE
    assert says in finding.found
    assert remedy in finding.remedy


def test_limits_that_the_player_chose_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    findings = found(terminal("linux", NO_COLOR="1"), Settings(ascii=True))
    assert findings["colours"].verdict is Severity.OK
    assert findings["signs"].verdict is Severity.OK


@pytest.mark.parametrize(
    ("mouse", "clipboard", "verdicts"),
    [
        ("on", "on", (Severity.OK, Severity.OK)),
        ("off", "external", (Severity.NOTE, Severity.NOTE)),
        ("", "", (Severity.OK, Severity.OK)),
    ],
)
def test_the_mouse_and_clipboard_options_of_tmux_are_checked(
    monkeypatch: pytest.MonkeyPatch,
    mouse: str,
    clipboard: str,
    verdicts: tuple[Severity, Severity],
) -> None:
    def tmux(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        answer = {"mouse": mouse, "set-clipboard": clipboard}[command[-1]]
        return subprocess.CompletedProcess(command, 0, f"{answer}\n", "")

    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    monkeypatch.setattr(subprocess, "run", tmux)
    findings = found(terminal())
    assert (findings["mouse"].verdict, findings["clipboard"].verdict) == verdicts
    assert ("tmux set" in findings["mouse"].remedy) is (mouse == "off")


def test_a_tmux_that_does_not_answer_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: Any, **__: Any) -> None:
        raise subprocess.TimeoutExpired("tmux", 2)

    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    monkeypatch.setattr(subprocess, "run", silent)
    assert found(terminal())["mouse"].verdict is Severity.OK


@pytest.mark.parametrize(
    ("variable", "value"), [("TERM_PROGRAM", "Apple_Terminal"), ("VTE_VERSION", "7600")]
)
def test_terminals_without_clipboard_access_get_a_note(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert "OSC 52" in found(terminal())["clipboard"].found
    assert found(terminal())["clipboard"].verdict is Severity.NOTE


def test_a_missing_server_dependency_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (server,) = [finding for finding in of_parts() if finding.name == "house"]
    assert server.verdict is Severity.OK
    monkeypatch.setattr(server_process, "NEEDED", ("click", "no_such_wheel"))
    (server,) = [finding for finding in of_parts() if finding.name == "house"]
    assert server.verdict is Severity.NOTE
    assert "no_such_wheel not installed" in server.found
    assert "pip install" in server.remedy


def test_without_any_files_the_checks_pass_and_create_none() -> None:
    findings = files()
    assert {finding.verdict for finding in findings.values()} == {Severity.OK}
    assert "created at" in findings["token"].found
    assert not paths.data_folder().exists()


def test_a_token_that_others_can_read_is_wrong() -> None:
    key_files.load_or_create(identity.secret_path())
    assert "0600" in files()["token"].found
    identity.secret_path().chmod(0o644)
    finding = files()["token"]
    assert finding.verdict is Severity.WRONG
    assert finding.remedy == f"Change that with: chmod 600 {identity.secret_path()}"


def test_a_fault_in_the_settings_is_found_with_its_line() -> None:
    path = paths.config_path()
    path.parent.mkdir(parents=True)
    path.write_text('name = "Anna"\nthmee = "night"\n')
    finding = files()["settings"]
    assert finding.verdict is Severity.WRONG
    assert f"{path}, line 2" in finding.found
    assert 'Did you mean "theme"?' in finding.remedy


def test_a_folder_that_cannot_be_written_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # the superuser can write to every folder
    monkeypatch.setattr(os, "access", lambda *_: False)
    finding = files()["data"]
    assert finding.verdict is Severity.WRONG
    assert paths.HOME_VARIABLE in finding.remedy


async def test_the_connection_is_measured_without_creating_a_token() -> None:
    async with open_lobby() as lobby:
        await lobby.host("Anna", public=True)
        finding = await check_connection(lobby.url)
    assert finding.verdict is Severity.OK
    assert lobby.url in finding.found
    assert "public tables: 1" in finding.found
    assert not identity.secret_path().exists()


async def test_a_slow_connection_gets_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "SLOW", -1.0)
    async with open_lobby() as lobby:
        assert (await check_connection(lobby.url)).verdict is Severity.NOTE


async def test_an_unreachable_server_is_wrong_only_if_the_player_named_it() -> None:
    nowhere = "ws://127.0.0.1:1"
    named = await check_connection(nowhere)
    assert named.verdict is Severity.WRONG
    assert "no server listens there" in named.found
    assert (await check_connection(nowhere, is_named=False)).verdict is Severity.NOTE
    assert (await check_connection("http://x", is_named=False)).verdict is Severity.WRONG
