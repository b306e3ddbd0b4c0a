"""`saratoga leaderboard`: the JSON of a page."""

import json

import pytest

from kit.results import BEST
from saratoga_client.cli.leaderboard import show
from saratoga_client.output import OutputFormat


def test_the_json_is_versioned_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    show(BEST, OutputFormat.JSON)
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == [
        *("schema", "game", "ranking", "period", "key", "bots", "total", "offset", "rows", "me")
    ]
    assert shown["schema"] == "saratoga.leaderboard.v1"
    assert shown["rows"][0] == {
        "rank": 1,
        "name": "Anna",
        "player": "a" * 16,
        "value": 31,
        "net": 105,
        "elapsed_ms": 90_500,
        "race": "mint-otter-42/3",
        "races": 0,
        "rivals": 4,
    }
    assert shown["me"]["name"] == "Bert"
