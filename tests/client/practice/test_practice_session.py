"""Undo, redo and begin again, as a player does them: nothing is lost and nothing counts."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import draw
from kit.solo import StoppedClock
from saratoga_client.input.move_text import card_name
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.ghost import Ghost
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.practice.run_store import RunStore
from saratoga_client.practice.runs import PracticeRun
from saratoga_client.review.climb import Climb
from saratoga_rules.games import GAMES
from saratoga_rules.judge import IllegalMove, legal_moves, play
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.position import Position

CANFIELD = GAMES["canfield"]
every_game = pytest.mark.parametrize("name", GAMES)

NEARLY_WON = draw(
    CANFIELD, "t1: KS\nt2: KH\nup: C13 S12 H12 D13\nbase: A",
)  # fmt: skip


class NoShelf(RunStore):
    """Remembers what it is given, on no disk."""

    def __init__(self) -> None:
        self.kept: list[PracticeRun] = []

    def keep(self, run: PracticeRun) -> Path:
        self.kept.append(run)
        return Path()

    def runs(self, dealt: PracticeDeal) -> list[PracticeRun]:
        return [run for run in self.kept if run.practice.dealt == dealt]


class FullShelf(NoShelf):
    """Has room for nothing."""

    def keep(self, run: PracticeRun) -> Path:
        raise OSError("No space left on device")


def desk_for(name: str = "canfield", **more: object) -> PracticeSession:
    kept: dict[str, object] = {"shelf": NoShelf(), "seconds": StoppedClock(), **more}
    return PracticeSession(from_seed(GAMES[name], "demo"), **kept)  # type: ignore[arg-type]


def made_again(desk: PracticeSession) -> Position:
    """Where the moves that stand lead to, from the deal."""
    position = desk.practice.dealt.position
    for made in desk.practice.made:
        position = play(desk.practice.game, position, made.move)
    return position


deeds = st.lists(st.sampled_from("mmmmmuurash"), max_size=25)


@every_game
@given(deeds=deeds, chance=st.integers(0, 99))
def test_the_board_is_always_what_the_moves_that_stand_lead_to(
    name: str, deeds: list[str], chance: int
) -> None:
    desk, dice = desk_for(name), Random(chance)
    for deed in deeds:
        legal = legal_moves(desk.practice.game, desk.practice.position)
        match deed:
            case "m" if legal:
                desk.play(dice.choice(legal))
            case "u":
                desk.undo()
            case "r":
                desk.redo()
            case "a":
                desk.bank_safe()
            case "s":
                desk.restart()
            case "h":
                desk.hint(card_name)
        assert made_again(desk) == desk.practice.position


@every_game
@given(steps=st.integers(0, 12), back=st.integers(0, 15), chance=st.integers(0, 99))
def test_what_is_undone_is_made_again_step_by_step(
    name: str, steps: int, back: int, chance: int
) -> None:
    desk, dice = desk_for(name), Random(chance)
    seen = [desk.practice.position]
    for _ in range(steps):
        desk.play(dice.choice(legal_moves(desk.practice.game, desk.practice.position)))
        seen.append(desk.practice.position)
    for step in range(1, back + 1):
        desk.undo()
        assert desk.practice.position == seen[max(len(seen) - 1 - step, 0)]
    for _ in range(back):
        desk.redo()
    assert desk.practice.position == seen[-1]
    assert desk.redo() == "There is no undone move to make again."


def test_undo_says_how_much_there_is_on_both_sides() -> None:
    desk = desk_for()
    assert desk.undo() == "There is no move to undo."
    desk.play(DRAW)
    desk.play(DRAW)
    assert desk.undo() == "Undone; 1 move stands, y makes 1 again."
    assert desk.redo() == "Made again; 2 moves stand."


def test_an_illegal_move_changes_nothing() -> None:
    desk = desk_for()
    before = desk.practice
    with pytest.raises(IllegalMove):
        desk.play(parse_move("redeal"))
    assert desk.practice is before


def test_beginning_again_keeps_the_run_and_deals_the_same() -> None:
    shelf = NoShelf()
    desk = desk_for(shelf=shelf)
    dealt = desk.practice.position
    desk.restart()
    assert shelf.kept == [], "nothing was done yet"
    desk.play(DRAW)
    desk.restart()
    assert desk.practice.position == dealt
    assert desk.practice.log == ()
    assert [len(run.practice.made) for run in shelf.kept] == [1]


def test_a_new_deal_is_another() -> None:
    desk = desk_for()
    before = desk.practice.dealt
    desk.deal_anew()
    assert desk.practice.dealt.seed != before.seed
    assert desk.practice.dealt.position != before.position


def test_a_kept_run_comes_back_as_a_ghost_and_goes_when_it_is_told_to() -> None:
    desk = desk_for(shelf=NoShelf(), with_ghost=True)
    assert desk.ghost is None
    assert "will be your ghost" in desk.greeting()
    desk.play(DRAW)
    assert "You race a ghost: your run, 1 banked in 0:00" in desk.restart()
    assert desk.toggle_ghost() == "The ghost is gone; e calls it back."
    assert desk.ghost is None


def test_a_ghost_of_a_race_is_there_for_its_deal_alone() -> None:
    ghost = Ghost("ana in mint-otter-42/3", Climb(1, ((5, 30),), 9))
    desk = desk_for(ghosts=[ghost], with_ghost=True)
    assert desk.ghost == ghost
    desk.deal_anew()
    assert desk.ghost is None


def test_a_won_game_s_clock_stands_still_and_it_stays_won() -> None:
    clock, shelf = StoppedClock(), NoShelf()
    dealt = PracticeDeal(CANFIELD, NEARLY_WON, race="mint-otter-42/3")
    desk = PracticeSession(dealt, shelf=shelf, seconds=clock)
    clock.at = 75.0
    assert desk.bank_safe() == "Won: all 52 banked in 1:15, clean. v copies that, n deals anew."
    clock.at = 100.0
    assert desk.elapsed == 75_000
    desk.undo()
    desk.restart()
    assert [run.is_won for run in shelf.kept] == [True]


def test_banking_what_is_safe_says_how_many() -> None:
    dealt = PracticeDeal(
        CANFIELD, draw(CANFIELD, "t1: AS\nt2: 9C\nbase: A"), race="mint-otter-42/3"
    )
    desk = PracticeSession(dealt, shelf=NoShelf())
    assert desk.bank_safe() == "1 card was safe, and is banked."
    assert desk.bank_safe() == "Nothing is safe to bank now: f banks what you choose."


def test_a_run_that_cannot_be_kept_is_told_and_practice_goes_on() -> None:
    desk = desk_for(shelf=FullShelf())
    desk.play(DRAW)
    desk.restart()
    assert desk.trouble == "This run could not be kept: No space left on device."
    assert desk.play(DRAW) == ""


def test_a_hint_is_counted_and_can_be_played() -> None:
    desk = desk_for()
    advised = desk.hint(card_name)
    assert advised.move is not None
    desk.play(advised.move)
    assert desk.practice.hints == 1
    assert "1 hint" in desk.share
