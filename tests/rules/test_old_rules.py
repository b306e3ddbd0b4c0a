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
    "canfield-aisleriot": "7a8627eb3f981ec8985e4380ecad5d781c0828a6d6ca4bc2c1027183e4519c3f",
    "canfield": "0d015e009a3c1f9ce571396dd263a427f38d5c718083b90f60b6baa27ed4c68d",
    "caprice": "3bf668369b3d6e5c68c67913610c2b65f61ad182a9172c7068f87b81219e1398",
    "klondike": "628828ce6af1db015b3f7a0df4bae241ec64503465b74bd23e1f8802218a05c2",
    "lady-palk": "29450035a6fcedaa5c2d77fabbddec9b83ce57fe0f660ff5e315c26a916d4c02",
    "lafayette": "1c279f949524303fd0bea53c3b2ea5ae0f8b1a190e582f20850d9ef22dbd6078",
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
    (fault,) = (check for check in verify(format_record(newer)).checks if check.unknown)
    assert fault.name == "rules"
    assert f"played by version {RULES_VERSION + 1} of the rules" in fault.detail
    assert "a newer one may" in fault.detail
