from itertools import pairwise

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_client.review.boards import open_boards
from saratoga_client.review.pauses import longest_pauses


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
