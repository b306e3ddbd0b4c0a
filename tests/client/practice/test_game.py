import pytest
from hypothesis import given

from kit.solo_player import moments, practice_at
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.game import (
    Aid,
    PracticeGame,
    after_entry,
    counts,
    is_known_stuck,
    make,
    new_game,
    redo,
    restart,
    undo,
    with_hint,
)
from saratoga_rules.games import GAMES
from saratoga_rules.judge import IllegalMove, legal_moves
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.position import Position

CANFIELD = GAMES["canfield"]
every_game = pytest.mark.parametrize("name", GAMES)


def fresh(name: str = "canfield", seed: str = "demo") -> PracticeGame:
    return new_game(from_seed(GAMES[name], seed))


def standing(practice: PracticeGame) -> tuple[Position, ...]:
    """Return every position from the deal to the present one."""
    return (practice.deal.position, *(made.position for made in practice.made))


@every_game
@given(place=moments)
def test_undo_then_redo_is_as_if_nothing_had_been_done(name: str, place: int) -> None:
    practice = practice_at(name, place)
    back = undo(practice, 10**9)
    assert (back is practice) == (not practice.made)
    there_and_back = redo(back, 10**9) if practice.made else back
    assert standing(there_and_back) == standing(practice)
    assert there_and_back.made == practice.made
    assert there_and_back.undone == practice.undone


@every_game
@given(place=moments)
def test_undoing_everything_comes_to_the_deal(name: str, place: int) -> None:
    practice = practice_at(name, place)
    moves = len(practice.made)
    for _ in range(moves + 2):
        practice = undo(practice, practice.last_at)
    assert practice.position == practice.deal.position
    for _ in range(moves):
        practice = redo(practice, practice.last_at)
    assert standing(practice) == standing(practice_at(name, place))


@every_game
@given(place=moments)
def test_a_restart_is_the_deal_with_an_empty_log(name: str, place: int) -> None:
    practice = practice_at(name, place)
    assert restart(practice) == new_game(practice.deal)
    assert restart(practice).is_clean


@every_game
@given(place=moments)
def test_the_log_alone_leads_to_the_same_game(name: str, place: int) -> None:
    practice = practice_at(name, place)
    walked = new_game(practice.deal)
    for entry in practice.log:
        walked = after_entry(walked, entry)
    assert standing(walked) == standing(practice)
    assert walked.log == practice.log
    assert [made.move for made in walked.undone] == [made.move for made in practice.undone]
    assert [count for _, count in counts(practice)][-1:] == [practice.banked][: len(practice.log)]


@pytest.mark.parametrize(
    ("name", "move", "pile"),
    [("canfield", "t4>up", "reserve"), ("caprice", "t2>up", "stock")],
)
def test_undo_also_reverts_the_automatic_effects_of_a_move(name: str, move: str, pile: str) -> None:
    practice = fresh(name)
    after = make(practice, parse_move(move), 1)
    hidden, left = getattr(practice.position, pile), getattr(after.position, pile)
    assert len(left) == len(hidden) - 1, "the space was filled at once"
    assert undo(after, 2).position == practice.position
    assert redo(undo(after, 2), 3).position == after.position


def test_an_illegal_move_changes_nothing() -> None:
    practice = fresh()
    with pytest.raises(IllegalMove):
        make(practice, parse_move("t1>t1"), 5)
    assert practice == fresh()


def test_repeating_the_undone_move_keeps_the_other_undone_moves() -> None:
    practice = make(make(fresh(), DRAW, 1), DRAW, 2)
    back = undo(undo(practice, 3), 4)
    again = make(back, DRAW, 5)
    assert len(again.undone) == 1
    other = next(move for move in legal_moves(CANFIELD, back.position) if move != DRAW)
    assert make(back, other, 5).undone == ()


def test_a_game_without_undo_and_hints_is_clean() -> None:
    practice = make(fresh(), DRAW, 1)
    assert practice.is_clean
    assert not undo(practice, 2).is_clean
    assert not with_hint(practice, practice.memory, 2).is_clean
    assert undo(fresh(), 2).is_clean, "nothing was there to be undone"


def test_time_never_runs_back() -> None:
    practice = undo(make(fresh(), DRAW, 900), 400)
    assert [(entry.at, entry.done) for entry in practice.log] == [(900, DRAW), (900, Aid.UNDO)]


def test_the_counts_over_time_include_undone_cards() -> None:
    practice = fresh(seed="demo")
    bank = parse_move("t4>up")
    practice = redo(undo(make(practice, bank, 100), 200), 300)
    assert list(counts(practice)) == [(100, 2), (200, 1), (300, 2)]


def test_a_board_is_not_called_stuck_before_the_whole_stock_was_seen() -> None:
    practice = fresh()
    assert not is_known_stuck(CANFIELD, practice.position)
    hopeless = practice.position._replace(
        stock=(), waste=(), reserve=(), columns=((), (), (), ()), up=(1, 0, 0, 0)
    )
    assert is_known_stuck(CANFIELD, hopeless)
    # one stock card has not been seen
    unseen = hopeless._replace(stock=practice.position.stock[:1])
    assert not is_known_stuck(CANFIELD, unseen)
