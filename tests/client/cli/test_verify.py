"""`saratoga verify` on files."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import click
import pytest

from kit.positions import banking, wandering
from kit.races import Entrant, closed, race, void_record
from saratoga_client.__main__ import saratoga
from saratoga_client.cli import verify
from saratoga_client.cli.frame import run
from saratoga_client.output import OutputFormat
from saratoga_client.problems import Exit
from saratoga_client.session.record_store import RecordStore
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import digest_of, format_record
from saratoga_rules.records.verify import Check

RECORD = race(
    "canfield",
    2,
    [Entrant("Anna", banking, patience=5), Entrant("Otto", wandering, bot=True, patience=3)],
)
TEXT = format_record(RECORD)
NOWHERE = "ws://127.0.0.1:1"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "race.record"
    path.write_bytes(TEXT.encode())
    return path


@pytest.mark.parametrize(
    ("text", "code", "said", "verdict"),
    [
        (TEXT, Exit.DONE, "ok    deal", " is verified: this machine did not see all of it"),
        (TEXT.replace("cap 10", "cap 20"), Exit.NOT_VERIFIED, "WRONG digest", "NOT VERIFIED"),
        (
            format_record(replace(void_record(), seed="00" * 32)),
            Exit.NOT_VERIFIED,
            "WRONG",
            "NOT VERIFIED",
        ),
        ("\x00\xff junk", Exit.NOT_VERIFIED, "WRONG text", "NOT VERIFIED"),
        (
            TEXT.replace("record 2", "record 3", 1),
            Exit.TOO_OLD,
            "unknown text: made by a newer release",
            " cannot be checked here: ",
        ),
        (
            TEXT.replace("record 2", "record 1", 1),
            Exit.TOO_OLD,
            "unknown text: made by an older release",
            " cannot be checked here: ",
        ),
        (
            format_record(closed(RECORD, 3, damaged=RECORD.racers[0].player)),
            Exit.TOO_OLD,
            "unknown damaged: the server could not read the rest of the log of Otto",
            " cannot be checked here: ",
        ),
    ],
    ids=["honest", "changed", "wrong void", "junk", "newer", "older", "damaged"],
)
def test_a_record_is_verified_contradicted_or_cannot_be_checked_here(
    text: str,
    code: Exit,
    said: str,
    verdict: str,
    kept: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept.write_bytes(text.encode("latin-1"))
    assert run(saratoga, ["verify", str(kept), "--plain"]) == code
    shown = capsys.readouterr()
    assert said in shown.out
    assert verdict in shown.out.splitlines()[-1]
    assert ("WRONG" in shown.out) is (code is Exit.NOT_VERIFIED)
    assert "Traceback" not in shown.err


def test_the_json_is_versioned_and_whole(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["verify", str(kept), "--json"]) == Exit.DONE
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == [
        *("schema", "race", "game", "verified", "voided", "witness", "contradictions"),
        *("digest", "words", "checks", "places", "names"),
    ]
    assert shown["schema"] == "saratoga.verify.v1"
    assert shown["digest"] == digest_of(TEXT)
    assert shown["checks"][0] == {
        "name": "text",
        "ok": True,
        "unknown": False,
        "detail": f"a record of race {RECORD.race_id}",
    }
    assert list(shown["places"][0]) == [*("place", "player", "banked", "net", "reached", "state")]
    assert [place["player"] for place in shown["places"]] == [row.player for row in RECORD.results]
    assert shown["names"] == {racer.player: racer.name for racer in RECORD.racers}


def test_the_json_says_whether_a_race_was_voided_and_that_junk_is_no_record(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, reason, code in (
        (format_record(void_record()), "closed", Exit.DONE),
        (TEXT, None, Exit.DONE),
        ("junk", None, Exit.NOT_VERIFIED),
    ):
        kept.write_text(text, encoding="ascii")
        assert run(saratoga, ["verify", str(kept), "--json"]) == code
        shown = json.loads(capsys.readouterr().out)
        assert (shown["voided"], shown["verified"]) == (reason, code is Exit.DONE)


def test_a_friends_four_words_are_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = []

    async def fetch(server: str, race: str) -> bytes:
        assert race == RECORD.race_id
        servers.append(server)
        return TEXT.encode()

    monkeypatch.setattr(verify, "fetch", fetch)
    words = digest_words(digest_of(TEXT))
    asked = ["verify", "--plain", f"{RECORD.race_id}#{words.upper()}"]
    assert run(saratoga, asked) == Exit.DONE
    assert f"words: the four words of the digest are {words}" in capsys.readouterr().out
    other = digest_words("00" * 32)
    assert run(saratoga, ["verify", f"{RECORD.race_id}#{other}"]) == Exit.NOT_VERIFIED
    assert f"words: the words {other} are of another record" in capsys.readouterr().out
    assert run(saratoga, ["verify", f"{RECORD.race_id}#no-such-words"]) == Exit.USAGE
    assert "four words are needed" in capsys.readouterr().err
    link = f"https://patience.example.org/races/{RECORD.race_id}#{words}"
    assert run(saratoga, ["verify", link]) == Exit.DONE
    assert servers[-1] == "wss://patience.example.org"


@pytest.mark.parametrize("command", ["verify", "replay"])
def test_a_record_on_this_machine_needs_no_server(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    RecordStore().keep(RECORD.race_id, TEXT)
    here = [command, RECORD.race_id, "--server", NOWHERE, "--plain"]
    assert run(saratoga, here) == Exit.DONE
    shown = capsys.readouterr()
    assert "the record that is saved on this machine" in shown.err
    assert RECORD.race_id in shown.out


def test_a_record_that_is_nowhere_cannot_be_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["verify", RECORD.race_id, "--server", NOWHERE]) == Exit.UNREACHABLE
    assert f"No server answers on this machine at {NOWHERE}" in capsys.readouterr().err


def test_a_long_check_is_wrapped_between_words_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    check = Check("witness", True, "commitment, nonces, racers, time limit, start, deal")
    proof = Mock(checks=(check,), sentence="It is verified.")
    verify.show(proof, OutputFormat.LIVE)
    first, second, verdict = (click.unstyle(line) for line in capsys.readouterr().out.splitlines())
    assert (first, second) == (
        "ok    witness: commitment, nonces,",
        "      racers, time limit, start, deal",
    )
    assert verdict == "It is verified."
