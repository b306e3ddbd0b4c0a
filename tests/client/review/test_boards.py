import pytest

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.review.boards import open_boards
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import replay

every_game = pytest.mark.parametrize("name", GAMES)
ENTRANTS = [
    Entrant("Anna", banking, patience=60),
    Entrant("Otto", wandering, patience=30),
    Entrant("Zoë", banking, bot=True, patience=45),
]


def finished(name: str = "lafayette", seed: int = 1) -> RaceRecord:
    return race(name, seed, ENTRANTS)


@every_game
def test_boards_are_open_from_the_deal_to_the_end_in_order_of_place(name: str) -> None:
    record = finished(name)
    boards = open_boards(record)
    assert [board.player for board in boards] == [row.player for row in record.results]
    for board, row in zip(boards, record.results, strict=True):
        assert list(board.positions) == replay(record, board.player)
        assert board.climb.final == row.banked == board.banked
        assert board.end == record.racer(board.player).log[-1].at


def test_a_board_has_the_level_of_its_bot_if_it_is_known() -> None:
    record = finished()
    bot = next(racer.player for racer in record.racers if racer.bot)
    assert {board.level for board in open_boards(record)} == {""}
    levels = {board.bot: board.level for board in open_boards(record, {bot: "weak"})}
    assert levels == {True: "weak", False: ""}
