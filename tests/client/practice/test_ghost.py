from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.game import make, new_game, undo
from saratoga_client.practice.ghost import (
    Ghost,
    best_ghost,
    gap_text,
    ghost_of_board,
    ghost_of_run,
)
from saratoga_client.review.climb import Climb
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.records.replay import steps

GHOST = Ghost("a ghost", Climb(1, ((1000, 1), (2000, 2), (5000, 4)), 9000))


def test_the_ghost_of_a_run_includes_undone_cards() -> None:
    practice = new_game(from_seed(GAMES["canfield"], "demo"))
    practice = undo(make(practice, parse_move("t4>up"), 100), 200)
    practice = make(make(practice, parse_move("t4>up"), 300), DRAW, 400)
    ghost = ghost_of_run(practice, 50)
    assert ghost == Ghost(
        "your run, 2 banked in 0:00", Climb(1, ((100, 2), (200, 1), (300, 2), (400, 2)), 400)
    )


def test_a_board_of_a_finished_race_makes_a_ghost() -> None:
    record = race("lafayette", 5, [Entrant("Anna", banking), Entrant("Otto", wandering)])
    player = record.results[0].player
    ghost = ghost_of_board(record, player)
    made = steps(record, player)
    assert ghost.climb.final == record.results[0].banked
    assert ghost.climb.end == made[-1].line.at
    assert ghost.climb.banked_at(made[10].line.at) == made[10].position.banked
    assert ghost.words == f"{record.racer(player).name} in mint-otter-42/6"


def test_a_ghost_that_did_nothing_stays_at_the_deal() -> None:
    still = ghost_of_run(new_game(from_seed(GAMES["caprice"], "demo")), 700)
    assert (still.climb.final, still.climb.banked_at(10**6), still.climb.end) == (8, 8, 700)


def test_the_best_ghost_banked_most_and_first() -> None:
    slow = Ghost("slow", Climb(1, ((2000, 2), (8000, 4)), 9000))
    less = Ghost("less", Climb(1, ((10, 3),), 9000))
    assert best_ghost([slow, less, GHOST]) is GHOST
    assert best_ghost([]) is None


def test_the_gap_is_given_in_cards() -> None:
    assert gap_text(GHOST, 2, 2500) == "level with the ghost"
    assert gap_text(GHOST, 3, 2500) == "1 card ahead of the ghost"
    assert gap_text(GHOST, 2, 5000) == "2 cards behind the ghost"
