"""Old races: every race ever recorded still verifies, even if the rules have changed since.

`records/rules-N` holds a race of every game as a real server wrote it under version N of the rules. No
file there is ever changed; a new version of the rules gets a folder of its own.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from saratoga_rules.games import GAMES, RULES, RULES_VERSION
from saratoga_rules.records.record import format_record, parse_record
from saratoga_rules.records.verify import verify

RECORDS = Path(__file__).parent / "records"

PINNED_1 = {
    "canfield-aisleriot": "0c445484ec7092174044db7de8df6f05720efe492f662da073563dd1167c64dc",
    "canfield": "bcfd2abbd08a7341a53184416903a912ec2c8ba8cc6f9cb4cbddb75d57d4a92f",
    "caprice": "9236973717f8f659c35b736a465773e3f7dff96a930b0c4ffdb874c93c466e61",
    "lady-palk": "5d5855a99a3d343c00ef3b0ac542178167ce74afbef0589eb1879a1b4316ab6e",
    "lafayette": "2d91eb1165eab219cd3f3f844b8f8b8f9ed3fce9880946a942c5f7075458e151",
}
"""The digest of each recorded race of version 1 of the rules."""


@pytest.mark.parametrize("game", PINNED_1)
def test_a_race_of_version_1_of_the_rules_verifies(game: str) -> None:
    text = (RECORDS / "rules-1" / f"{game}.record").read_bytes()
    verdict = verify(text)
    assert verdict.faults == ()
    assert verdict.record is not None
    assert (verdict.record.rules_version, verdict.record.game) == (1, game)
    assert text.decode("ascii").endswith(f"digest {PINNED_1[game]}\n")


@pytest.mark.parametrize("version", RULES)
def test_every_game_of_every_version_is_pinned(version: int) -> None:
    pinned = {path.stem for path in (RECORDS / f"rules-{version}").glob("*.record")}
    assert pinned == set(RULES[version])


def test_no_version_is_missing_and_the_newest_is_played() -> None:
    assert list(RULES) == list(range(1, RULES_VERSION + 1))
    assert RULES[RULES_VERSION] is GAMES


@pytest.mark.parametrize("game", PINNED_1)
def test_a_race_of_newer_rules_is_left_to_a_newer_program(game: str) -> None:
    record = parse_record((RECORDS / "rules-1" / f"{game}.record").read_text("ascii"))
    newer = replace(record, rules_version=RULES_VERSION + 1)
    (fault,) = verify(format_record(newer)).faults
    assert fault.name == "rules"
    assert f"played by version {RULES_VERSION + 1} of the rules" in fault.detail
    assert "a newer one may" in fault.detail
