from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.practice.dealt import from_seed
from saratoga_client.practice.game import begin, make, undo
from saratoga_client.practice.ghost import (
    Ghost,
    best_ghost,
    gap_words,
    ghost_of_board,
    ghost_of_run,
)
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.replay import steps

GHOST = Ghost(words="a ghost", start=1, counts=((1000, 1), (2000, 2), (5000, 4)), end=9000)


def test_a_ghost_has_banked_what_it_had_then() -> None:
    moments = [0, 1999, 2000, 4999, 5000, 10**9]
    assert [GHOST.banked_at(at) for at in moments] == [1, 1, 2, 2, 4, 4]
    assert GHOST.final == 4


def test_when_a_ghost_reached_a_count() -> None:
    assert [GHOST.reached(count) for count in (0, 1, 2, 3, 4, 5)] == [0, 0, 2000, 5000, 5000, None]


def test_a_run_makes_a_ghost_undone_cards_and_all() -> None:
    practice = begin(from_seed(GAMES["canfield"], "demo"))
    practice = undo(make(practice, parse_move("t4>up"), 100), 200)
    practice = make(make(practice, parse_move("t4>up"), 300), DRAW, 400)
    ghost = ghost_of_run(practice, 50, "your run")
    assert ghost.counts == ((100, 2), (200, 1), (300, 2), (400, 2))
    assert (ghost.start, ghost.end, ghost.words) == (1, 400, "your run")


def test_a_board_of_a_finished_race_makes_a_ghost() -> None:
    record = race("lafayette", 5, [Entrant("Anna", banking), Entrant("Otto", wandering)])
    player = record.results[0].player
    ghost = ghost_of_board(record, player)
    made = steps(record, player)
    assert ghost.final == record.results[0].banked
    assert ghost.end == made[-1].line.at
    assert ghost.banked_at(made[10].line.at) == made[10].position.banked
    assert ghost.words == f"{record.racer(player).name} in mint-otter-42/6"


def test_a_ghost_that_did_nothing_stays_at_the_deal() -> None:
    still = ghost_of_run(begin(from_seed(GAMES["caprice"], "demo")), 700, "still")
    assert (still.final, still.banked_at(10**6), still.end) == (8, 8, 700)


def test_the_best_ghost_banked_most_and_first() -> None:
    slow = Ghost(words="slow", start=1, counts=((2000, 2), (8000, 4)), end=9000)
    less = Ghost(words="less", start=1, counts=((10, 3),), end=9000)
    assert best_ghost([slow, less, GHOST]) is GHOST
    assert best_ghost([]) is None


def test_the_gap_is_said_in_cards() -> None:
    assert gap_words(GHOST, 2, 2500) == "level with the ghost"
    assert gap_words(GHOST, 3, 2500) == "1 card ahead of the ghost"
    assert gap_words(GHOST, 2, 5000) == "2 cards behind the ghost"
