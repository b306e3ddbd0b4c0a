"""Undo, redo, restart and hints as a player uses them; no run is lost."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import draw
from kit.solo_player import StoppedClock
from saratoga_client.input.move_text import card_name
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.ghost import Ghost
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.practice.run_store import RunStore
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


class MemoryRunStore(RunStore):
    """A run store in memory."""

    def __init__(self) -> None:
        self.kept: list[tuple[PracticeDeal, Ghost]] = []

    def keep(self, deal: PracticeDeal, run: Ghost) -> None:
        self.kept.append((deal, run))

    def runs(self, deal: PracticeDeal) -> list[Ghost]:
        return [run for each, run in self.kept if each == deal]


class FullRunStore(MemoryRunStore):
    """A run store on a full disk."""

    def keep(self, deal: PracticeDeal, run: Ghost) -> None:
        raise OSError("No space left on device")


def session_for(name: str = "canfield", **more: object) -> PracticeSession:
    kept: dict[str, object] = {"run_store": MemoryRunStore(), "seconds": StoppedClock(), **more}
    return PracticeSession(from_seed(GAMES[name], "demo"), **kept)  # type: ignore[arg-type]


def replayed(session: PracticeSession) -> Position:
    """Return the position after the moves that are not undone, played from the deal."""
    position = session.practice.deal.position
    for made in session.practice.made:
        position = play(session.practice.game, position, made.move)
    return position


actions = st.lists(st.sampled_from("mmmmmuurash"), max_size=25)


@every_game
@given(actions=actions, chance=st.integers(0, 99))
def test_the_position_is_always_that_of_the_standing_moves(
    name: str, actions: list[str], chance: int
) -> None:
    session, dice = session_for(name), Random(chance)
    for action in actions:
        legal = legal_moves(session.practice.game, session.practice.position)
        match action:
            case "m" if legal:
                session.play(dice.choice(legal))
            case "u":
                session.undo()
            case "r":
                session.redo()
            case "a":
                session.bank_safe()
            case "s":
                session.restart()
            case "h":
                session.hint(card_name)
        assert replayed(session) == session.practice.position


@every_game
@given(steps=st.integers(0, 12), back=st.integers(0, 15), chance=st.integers(0, 99))
def test_redo_repeats_the_undone_moves_one_by_one(
    name: str, steps: int, back: int, chance: int
) -> None:
    session, dice = session_for(name), Random(chance)
    seen = [session.practice.position]
    for _ in range(steps):
        session.play(dice.choice(legal_moves(session.practice.game, session.practice.position)))
        seen.append(session.practice.position)
    for step in range(1, back + 1):
        session.undo()
        assert session.practice.position == seen[max(len(seen) - 1 - step, 0)]
    for _ in range(back):
        session.redo()
    assert session.practice.position == seen[-1]
    assert session.redo() == "There is no move to redo."


def test_undo_says_how_many_moves_stand_and_can_be_redone() -> None:
    session = session_for()
    assert session.undo() == "There is no move to undo."
    session.play(DRAW)
    session.play(DRAW)
    assert session.undo() == "Undone; 1 move stands, i redoes 1."
    assert session.redo() == "Redone; 2 moves stand."


def test_an_illegal_move_changes_nothing() -> None:
    session = session_for()
    before = session.practice
    with pytest.raises(IllegalMove):
        session.play(parse_move("redeal"))
    assert session.practice is before


def test_a_restart_keeps_the_run_and_deals_the_same_cards() -> None:
    run_store = MemoryRunStore()
    session = session_for(run_store=run_store)
    deal = session.practice.position
    session.restart()
    assert run_store.kept == [], "nothing was done yet"
    session.play(DRAW)
    session.restart()
    assert session.practice.position == deal
    assert session.practice.log == ()
    assert [len(run.climb.counts) for _, run in run_store.kept] == [1]


def test_a_new_deal_has_other_cards() -> None:
    session = session_for()
    before = session.practice.deal
    session.deal_anew()
    assert session.practice.deal.seed != before.seed
    assert session.practice.deal.position != before.position


def test_a_kept_run_is_the_next_ghost_until_it_is_switched_off() -> None:
    session = session_for(run_store=MemoryRunStore(), with_ghost=True)
    assert session.ghost is None
    assert "will be your ghost" in session.greeting()
    session.play(DRAW)
    assert "You race a ghost: your run, 1 banked in 0:00" in session.restart()
    assert session.toggle_ghost() == "The ghost is off; e brings it back."
    assert session.ghost is None


def test_a_ghost_from_a_race_belongs_to_its_deal_only() -> None:
    ghost = Ghost("ana in mint-otter-42/3", Climb(1, ((5, 30),), 9))
    session = session_for(ghosts=[ghost], with_ghost=True)
    assert session.ghost == ghost
    session.deal_anew()
    assert session.ghost is None


def test_a_won_game_stops_its_clock_and_stays_won() -> None:
    clock, run_store = StoppedClock(), MemoryRunStore()
    deal = PracticeDeal(CANFIELD, NEARLY_WON, race="mint-otter-42/3")
    session = PracticeSession(deal, run_store=run_store, seconds=clock)
    clock.at = 75.0
    assert (
        session.bank_safe()
        == "Won: all 52 banked in 1:15, clean. y copies the result, n deals anew."
    )
    clock.at = 100.0
    assert session.elapsed == 75_000
    session.undo()
    session.restart()
    assert [run.words for _, run in run_store.kept] == ["your run, won in 1:15"]


def test_banking_the_safe_cards_says_how_many() -> None:
    deal = PracticeDeal(CANFIELD, draw(CANFIELD, "t1: AS\nt2: 9C\nbase: A"), race="mint-otter-42/3")
    session = PracticeSession(deal, run_store=MemoryRunStore())
    assert session.bank_safe() == "1 safe card banked."
    assert session.bank_safe() == "Nothing is safe to bank now: f banks what you choose."


def test_practice_goes_on_when_a_run_cannot_be_saved() -> None:
    session = session_for(run_store=FullRunStore())
    session.play(DRAW)
    session.restart()
    assert session.save_error == "This run could not be saved: No space left on device."
    assert session.play(DRAW) == ""


def test_a_hint_is_counted_and_can_be_played() -> None:
    session = session_for()
    hint = session.hint(card_name)
    assert hint.move is not None
    session.play(hint.move)
    assert session.practice.hints == 1
    assert "1 hint" in session.share
