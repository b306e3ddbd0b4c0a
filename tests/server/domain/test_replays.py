"""The boards of a finished race, replayed from its record."""

import json

import pytest

from kit.finished_races import finished_race
from kit.voided_races import void_record
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position
from saratoga_rules.records.record import format_record
from saratoga_rules.records.replay import replay
from saratoga_rules.records.void_record import format_void_record
from saratoga_server.domain import replays
from saratoga_server.domain.replays import CannotReplay, replay_json


@pytest.mark.parametrize("game", GAMES)
def test_every_board_is_shown_after_every_entry(game: str) -> None:
    record = finished_race(game)
    told = json.loads(replay_json(format_record(record)))
    assert (told["race"], told["game"]) == (record.race_id, game)
    assert told["deal"] == format_position(record.deal)
    assert told["banked"] == record.deal.banked
    assert [board["player"] for board in told["boards"]] == [line.player for line in record.results]
    for board, line in zip(told["boards"], record.results, strict=True):
        log, positions = record.racer(line.player).log, replay(record, line.player)[1:]
        assert board["entries"] == [
            {
                "at": each.at,
                "number": each.number,
                "entry": each.text,
                "position": format_position(position),
                "banked": position.banked,
            }
            for each, position in zip(log, positions, strict=True)
        ]
        assert (board["place"], board["net"], board["state"]) == (line.place, line.net, line.state)
        assert (board["reached"], board["left_out"]) == (line.reached, 0)


def test_the_longest_logs_are_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    record = finished_race()
    monkeypatch.setattr(replays, "MOST_REPLAYED", 3 * len(record.racers))
    for board in json.loads(replay_json(format_record(record)))["boards"]:
        length = len(record.racer(board["player"]).log)
        assert len(board["entries"]) == min(3, length)
        assert board["left_out"] == max(0, length - 3)


def test_a_voided_race_has_no_boards() -> None:
    with pytest.raises(CannotReplay, match="voided"):
        replay_json(format_void_record(void_record()))


def test_a_damaged_record_has_no_boards() -> None:
    text = format_record(finished_race())
    with pytest.raises(CannotReplay, match="cannot be replayed"):
        replay_json(text.replace("game canfield", "game lafayette"))
