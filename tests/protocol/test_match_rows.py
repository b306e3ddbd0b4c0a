"""The rows of a match on the wire."""

import msgspec

from saratoga_protocol.match_rows import Match, MatchResult, MatchRow


def test_a_person_s_row_leaves_out_the_mark_of_a_bot() -> None:
    row = MatchRow(
        player="a" * 16,
        name="Ann",
        place=1,
        net=-5,
        wins=1,
        results=[MatchResult(race="mint-otter-42/1", place=1, net=-5)],
    )
    match = Match(races=3, finished=["mint-otter-42/1"], rows=[row])
    sent = msgspec.json.decode(msgspec.json.encode(match))
    assert list(sent["rows"][0]) == ["player", "name", "place", "net", "wins", "results"]
    assert sent["rows"][0]["results"] == [{"race": "mint-otter-42/1", "place": 1, "net": -5}]
