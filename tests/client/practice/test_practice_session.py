"""A session of practice: runs, ghosts and the shared text."""

import shlex
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import draw
from kit.races import Entrant, race
from kit.solo_player import StoppedClock
from kit.walks import banking, wandering
from saratoga_client.input.move_text import card_name
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.game import make, new_game, undo
from saratoga_client.practice.ghost import (
    MOST_KEPT,
    Ghost,
    RunStore,
    best_ghost,
    gap_text,
    ghost_of_board,
    ghost_of_run,
)
from saratoga_client.practice.practice_session import PracticeSession, practice_text
from saratoga_client.review.chart import Climb
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_rules.records.replay import steps

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


DEAL = from_seed(GAMES["canfield"], "demo")


def run(banked: int) -> Ghost:
    return Ghost(f"your run, {banked} banked in 0:09", Climb(1, ((500, banked),), 9_000))


def test_a_saved_run_is_found_with_its_deal_and_no_other(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    for banked in (5, 3):
        run_store.keep(DEAL, run(banked))
    run_store.keep(from_seed(GAMES["canfield"], "another"), run(4))
    assert run_store.runs(DEAL) == [run(5), run(3)]
    assert run_store.runs(from_seed(GAMES["lafayette"], "demo")) == []


def test_the_oldest_run_makes_room_and_an_unreadable_file_is_replaced(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path)
    for banked in range(MOST_KEPT + 3):
        run_store.keep(DEAL, run(banked))
    assert run_store.runs(DEAL) == [run(banked) for banked in range(3, MOST_KEPT + 3)]
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(b'[{"words": 1}]')
    assert run_store.runs(DEAL) == []
    run_store.keep(DEAL, run(2))
    assert run_store.runs(DEAL) == [run(2)]


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


def test_the_best_ghost_banked_most_and_first() -> None:
    slow = Ghost("slow", Climb(1, ((2000, 2), (8000, 4)), 9000))
    less = Ghost("less", Climb(1, ((10, 3),), 9000))
    assert best_ghost([slow, less, GHOST]) is GHOST
    assert best_ghost([]) is None


def test_the_gap_is_given_in_cards() -> None:
    assert gap_text(GHOST, 2, 2500) == "level with the ghost"
    assert gap_text(GHOST, 3, 2500) == "1 card ahead of the ghost"
    assert gap_text(GHOST, 2, 5000) == "2 cards behind the ghost"


def test_the_text_mentions_undos_and_hints() -> None:
    practice = undo(make(new_game(from_seed(GAMES["canfield"], "it's me")), DRAW, 5), 6)
    text = practice_text(practice, 65_000)
    assert "in 1:05, 1 undo\n" in text
    assert shlex.split(text.partition("Try it: ")[2])[-2:] == ["--seed", "it's me"]
