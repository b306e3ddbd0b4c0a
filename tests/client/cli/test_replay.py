"""`saratoga replay`: records from files, and records kept on this machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from kit.races import void_record
from kit.session_states import finished
from saratoga_client.__main__ import saratoga
from saratoga_client.cli.frame import run
from saratoga_client.local.settings import Settings
from saratoga_client.problems import Exit
from saratoga_client.session.history import raced_in
from saratoga_client.session.record_store import RecordStore
from saratoga_client.tui import app as tui_app
from saratoga_rules.records.record import RaceRecord, format_record


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "race.record"
    path.write_text(format_record(finished()), encoding="ascii")
    return path


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [
        (b"junk\n", Exit.NOT_VERIFIED, "is not a race record"),
        (b"\x00\xff", Exit.NOT_VERIFIED, "is not a race record"),
        (b"", Exit.NOT_VERIFIED, "is not a race record"),
        (b"saratoga record 9\n", Exit.TOO_OLD, "Update this program"),
    ],
)
def test_what_is_no_record_is_refused_with_the_reason(
    content: bytes, code: Exit, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "no.record"
    path.write_bytes(content)
    assert run(saratoga, ["replay", str(path), "--plain"]) == code
    assert why in capsys.readouterr().err


def test_a_record_of_other_rules_or_of_moves_that_were_none_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    racer, *others = finished().racers
    first, *rest = racer.log
    forged = replace(racer, log=(replace(first, text="redeal"), *rest))
    path = tmp_path / "odd.record"
    for record, remedy, code in (
        (replace(finished(), rules_version=99), "Update this program", Exit.TOO_OLD),
        (replace(finished(), racers=(forged, *others)), "saratoga verify", Exit.NOT_VERIFIED),
    ):
        path.write_text(format_record(record), encoding="ascii")
        assert run(saratoga, ["replay", str(path)]) == code
        shown = capsys.readouterr()
        assert remedy in " ".join(shown.err.split())
        assert "This race cannot be replayed: " in shown.err
        assert not shown.out


def test_on_a_terminal_the_screen_opens_at_the_board_of_the_local_player(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[RaceRecord, str]] = []

    async def open_screen(flow: tuple[RaceRecord, str], settings: Settings) -> None:
        opened.append(flow)

    monkeypatch.setattr("saratoga_client.cli.replay.in_lines", lambda _: False)
    monkeypatch.setattr(tui_app, "review_flow", lambda record, player, _: (record, player))
    monkeypatch.setattr(tui_app, "open_screen", open_screen)
    assert run(saratoga, ["replay", str(kept)]) == Exit.DONE
    last = finished().results[-1]
    raced = raced_in(finished(), last.player)
    assert raced is not None
    RecordStore().add(raced)
    assert run(saratoga, ["replay", str(kept)]) == Exit.DONE
    assert opened == [(finished(), ""), (finished(), last.player)]


def test_a_voided_race_cannot_be_replayed_and_the_remedy_names_verify(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "void.record"
    path.write_text(format_record(void_record()))
    assert run(saratoga, ["replay", str(path), "--plain"]) == Exit.REFUSED
    said = " ".join(capsys.readouterr().err.split())
    assert "was voided by the server (the table was closed during the race)" in said
    assert "saratoga verify mint-otter-42/1" in said
    assert run(saratoga, ["verify", str(path), "--plain"]) == Exit.DONE
    assert "voided: the table was closed during the race" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [format_record(void_record("mint-otter-42/1")), format_record(finished())],
    ids=["voided", "finished"],
)
def test_the_record_of_another_race_than_the_one_asked_for_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fetch(server: str, race: str) -> bytes:
        return text.encode()

    monkeypatch.setattr("saratoga_client.cli.verify.fetch", fetch)
    assert run(saratoga, ["replay", "mint-otter-42/9", "--plain"]) == Exit.NOT_VERIFIED
    shown = capsys.readouterr()
    assert (
        "Race mint-otter-42/9 was asked for, but the record is of race mint-otter-42/" in shown.err
    )
    assert not shown.out
