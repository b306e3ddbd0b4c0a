from itertools import pairwise

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_client.review.boards import open_boards
from saratoga_client.review.pauses import MoveKind, longest_pauses, time_spent
from saratoga_rules.games import GAMES


def test_the_times_of_all_moves_add_up_to_the_boards_time() -> None:
    for name in GAMES:
        (board,) = open_boards(race(name, 4, [Entrant("Anna", banking, patience=50)]))
        spent = time_spent(board)
        assert sum(lasted for _, lasted in spent.values()) == board.end
        assert sum(moves for moves, _ in spent.values()) == len(board.entries)
        assert list(spent) == [kind for kind in MoveKind if kind in spent]


def test_the_longest_pauses_come_first() -> None:
    (board,) = open_boards(race("canfield", 4, [Entrant("Anna", banking, patience=50)]))
    pauses = longest_pauses(board)
    assert len(pauses) == 3
    assert pauses[0].lasted >= pauses[1].lasted >= pauses[2].lasted
    times = [0, *(entry.at for entry in board.entries)]
    for pause in pauses:
        assert times[pause.step] == pause.since
        assert times[pause.step + 1] - times[pause.step] == pause.lasted
    assert pauses[0].lasted == max(b - a for a, b in pairwise(times))
