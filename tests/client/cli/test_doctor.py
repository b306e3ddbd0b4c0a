"""`saratoga doctor`: its output and exit code, for people and for programs."""

import json

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.commands import run
from saratoga_client.cli.doctor import show
from saratoga_client.cli.doctor_checks import Finding, Severity
from saratoga_client.local import identity, key_files, paths
from saratoga_client.output import OutputFormat
from saratoga_client.problems import Exit

NOWHERE = "ws://127.0.0.1:1"


def examined(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run(saratoga, ["doctor", *words])
    shown = capsys.readouterr()
    assert shown.err == ""
    return code, shown.out


def test_an_unreachable_server_that_was_named_ends_with_3(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, output = examined(capsys, "--server", NOWHERE)
    assert code == Exit.UNREACHABLE
    assert (
        f"wrong  way: No server answers on this machine at {NOWHERE}: no server listens there."
        in output
    )
    assert "To open it again: saratoga host --port 1" in output


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
        *("terminal", "size", "colours", "signs", "mouse", "clipboard"),
        *("versions", "system", "house", "settings", "state", "data", "token", "way"),
    ]


def test_any_other_failed_check_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    key_files.load_or_create(identity.secret_path())
    identity.secret_path().chmod(0o644)
    code, output = examined(capsys, "--server", NOWHERE)
    assert code == Exit.UNEXPECTED
    assert "remedy token: Change that with: chmod 600" in output


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


def test_on_a_terminal_long_findings_are_indented_below_their_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    finding = Finding("way", Severity.NOTE, "long " * 30, "Come nearer.")
    show([finding], NOWHERE, OutputFormat.LIVE)
    first, *more = capsys.readouterr().out.splitlines()
    assert first.endswith("way: long long long long long long long long long")
    assert all(line.startswith(" " * 7) and len(line) <= 60 for line in more)
    assert more[-1].strip() == "Come nearer."
