"""Lines about boards, moves and cards."""

import pytest
from hypothesis import given

from kit.positions import Step, steps
from kit.session_states import finished
from saratoga_client.plain.board import position_lines
from saratoga_client.plain.finished_race import review_lines
from saratoga_client.review.boards import open_boards
from saratoga_rules.cards import PACK
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.position import redact
from saratoga_rules.records.record import RaceRecord


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_no_line_names_a_card_that_the_view_hides(game: Game) -> None:
    @given(steps(game.name))
    def holds(step: Step) -> None:
        view = redact(step.position)
        open_cards = {card for pile in (view.waste, view.reserve, *view.columns) for card in pile}
        said = {
            word
            for line in position_lines(game, view)
            if not line.startswith(("up", "down"))
            for word in line.replace(",", "").split()
            if word in PACK
        }
        assert said <= open_cards

    holds()


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return finished()


def test_a_review_shows_the_first_difference_and_the_longest_pauses(record: RaceRecord) -> None:
    winner, second, _ = open_boards(record)
    lines = list(review_lines(record, second.player))
    assert lines[0].startswith("result 2. Zoë°")
    assert lines[1].startswith("parted: after")
    assert sum(line.startswith("pause: ") for line in lines) == 3
    assert "review: no one did better" in list(review_lines(record, winner.player))


def test_a_player_who_was_not_in_the_race_gets_no_review(record: RaceRecord) -> None:
    assert list(review_lines(record, "nobody")) == [
        "no: You were not in this race. Type results for how it ended."
    ]
