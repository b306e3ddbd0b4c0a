"""`saratoga doctor`: each check reports ok, a note or a failure, and a remedy."""

import json
import os

import pytest

from kit.client_servers import open_lobby
from saratoga_client.__main__ import saratoga
from saratoga_client.cli import doctor
from saratoga_client.cli.doctor import of_connection, of_files, of_terminal
from saratoga_client.cli.frame import run
from saratoga_client.local import identity, paths
from saratoga_client.local.terminal import Capabilities, capabilities
from saratoga_client.problems import Exit

NOWHERE = "ws://127.0.0.1:1"


def terminal(
    term: str = "xterm-256color", *, is_terminal: bool = True, size: tuple[int, int] = (80, 24)
) -> Capabilities:
    return capabilities({"TERM": term}, is_terminal=is_terminal, size=size)


def examined(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run(saratoga, ["doctor", *words])
    shown = capsys.readouterr()
    assert shown.err == ""
    return code, shown.out


def test_the_json_report_holds_every_finding_and_the_overall_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, output = examined(capsys, "--server", NOWHERE, "--json")
    report = json.loads(output)
    assert code == Exit.UNREACHABLE
    assert (report["schema"], report["well"]) == ("saratoga.doctor.v1", False)
    assert report["server"] == NOWHERE
    assert set(report["findings"][0]) == {"name", "verdict", "found", "remedy"}
    assert [each["name"] for each in report["findings"]] == [
        *("terminal", "size", "colours", "settings", "state", "data", "connection"),
    ]


def test_settings_that_are_at_fault_are_a_finding_and_not_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = paths.config_path()
    path.parent.mkdir(parents=True)
    path.write_text("cap = 7\n")
    code, output = examined(capsys, "--server", NOWHERE)
    assert code == Exit.UNEXPECTED
    assert "wrong  settings: " in output
    assert "line 1: cap cannot be 7" in output


@pytest.mark.parametrize(
    ("capable", "name", "says", "remedy"),
    [
        (terminal("dumb"), "terminal", "cannot redraw (TERM=dumb)", "xterm-256color"),
        (terminal(is_terminal=False), "terminal", "not a terminal", "run saratoga in a terminal"),
        (terminal(size=(79, 24)), "size", "79 columns, 24 rows", "80 x 24 or larger"),
        (terminal("vt100"), "colours", "none", "COLORTERM"),
    ],
)
def test_a_limited_terminal_gets_a_note_with_a_remedy(
    capable: Capabilities, name: str, says: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert {finding.verdict for finding in of_terminal(terminal())} == {"ok"}
    finding = {finding.name: finding for finding in of_terminal(capable)}[name]
    assert finding.verdict == "note"
    assert says in finding.found
    assert remedy in finding.remedy


def test_files_are_checked_without_creating_any(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {finding.verdict for finding in of_files()} == {"ok"}
    assert not paths.data_folder().exists()
    # the superuser can write to every folder
    monkeypatch.setattr(os, "access", lambda *_: False)
    finding = list(of_files())[-1]
    assert (finding.name, finding.verdict) == ("data", "wrong")
    assert paths.HOME_VARIABLE in finding.remedy


async def test_the_connection_is_measured_without_creating_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_lobby() as lobby:
        await lobby.host("Anna", public=True)
        finding = await of_connection(lobby.url)
        assert finding.verdict == "ok"
        assert lobby.url in finding.found
        assert "public tables: 1" in finding.found
        assert not identity.secret_path().exists()
        monkeypatch.setattr(doctor, "SLOW", -1.0)
        assert (await of_connection(lobby.url)).verdict == "note"


async def test_an_unreachable_server_is_wrong_only_if_the_player_named_it() -> None:
    assert (await of_connection(NOWHERE)).verdict == "wrong"
    assert (await of_connection(NOWHERE, is_named=False)).verdict == "note"
    assert (await of_connection("http://x", is_named=False)).verdict == "wrong"
