from dataclasses import replace

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.review.boards import OpenBoard, open_boards
from saratoga_client.review.divergence import divergence_lines, first_divergence
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import parse_move
from saratoga_rules.records.record import LogLine
from saratoga_rules.records.standing import State

LADY_PALK = GAMES["lady-palk"]
DEAL = deal_for_key(LADY_PALK, practice_key("demo"))


def board(name: str, *moves: str, pace: int = 1000) -> OpenBoard:
    """Return a board on which these moves were made, so many milliseconds apart."""
    positions = [DEAL]
    for move in moves:
        last = positions[-1]
        positions.append(last if move == "cash-out" else play(LADY_PALK, last, parse_move(move)))
    return OpenBoard(
        player=name.lower(),
        name=name,
        bot=False,
        place=1,
        banked=positions[-1].banked,
        net=0,
        state=State.CASHED_OUT,
        reached=None,
        entries=tuple(LogLine(n * pace, n, move) for n, move in enumerate(moves, 1)),
        positions=tuple(positions),
    )


def test_the_first_difference_has_the_moves_of_both_boards() -> None:
    own = board("Anna", "t3>up", "draw", "cash-out")
    winner = board("Otto", "t3>up", "t8>up", "draw", pace=700)
    divergence = first_divergence(LADY_PALK, own, winner)
    assert divergence is not None
    assert divergence_lines(divergence, "You", "Otto") == (
        "You: 2. 1 card from the stock to the waste (0:02)",
        "Otto: 2. 2♣ from column 8 banked (0:01)",
    )


def test_a_board_that_ended_earlier_differs_at_its_end() -> None:
    own = board("Anna", "t3>up")
    winner = board("Otto", "t3>up", "draw")
    divergence = first_divergence(LADY_PALK, own, winner)
    assert divergence is not None
    assert divergence_lines(divergence, "You", "Otto")[0] == "You: the board ended there"


def test_equal_boards_have_no_difference() -> None:
    one = board("Anna", "t3>up", "draw")
    assert first_divergence(LADY_PALK, one, replace(one, name="Otto")) is None


def test_real_boards_differ_where_their_logs_do() -> None:
    for name, game in GAMES.items():
        record = race(name, 1, [Entrant("Anna", banking), Entrant("Otto", wandering)])
        winner, own = open_boards(record)
        first = first_divergence(game, own, winner)
        assert first is not None
        assert own.positions[first.common] == winner.positions[first.common]
        assert own.entries[first.common].text != winner.entries[first.common].text
