import pytest

from kit.solo_player import finished
from saratoga_client.plain.review import replay_lines, review_lines
from saratoga_client.review.boards import open_boards
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord

every_game = pytest.mark.parametrize("name", GAMES)


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return finished()


@every_game
def test_every_move_of_every_board_is_a_line_with_its_time(name: str) -> None:
    record = finished(name)
    lines = list(replay_lines(record))
    assert lines[0] == f"race {record.race_id}: {name}, 3 racers"
    moves = [line for line in lines if line.startswith("move ")]
    assert len(moves) == sum(racer.moves for racer in record.racers)
    assert all("; at " in line for line in moves)
    results = [line for line in lines if line.startswith("result ")]
    assert [line[:10] for line in results] == ["result 1. ", "result 2. ", "result 3. "]


def test_no_line_contains_control_characters(record: RaceRecord) -> None:
    assert all(line.isprintable() for line in replay_lines(record))


def test_a_review_shows_the_first_difference_and_the_longest_pauses(record: RaceRecord) -> None:
    winner, second, _ = open_boards(record)
    lines = list(review_lines(record, second.player))
    assert lines[0].startswith("result 2. Zoë [bot]")
    assert lines[1].startswith("parted: after")
    assert sum(line.startswith("pause: ") for line in lines) == 3
    assert "review: no one did better" in list(review_lines(record, winner.player))


def test_a_player_who_was_not_in_the_race_gets_no_review(record: RaceRecord) -> None:
    assert list(review_lines(record, "nobody")) == [
        "no: You were not in this race. Type results for how it ended."
    ]
