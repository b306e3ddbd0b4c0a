"""Practice: deals, moves, undo, hints, safe cards, runs, ghosts and the shared text."""

import shlex
from copy import copy
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import STRATEGIES, draw, places, step_at
from kit.screens import StoppedClock
from kit.secrecy import rearranged, slots
from saratoga_client.input.move_text import card_name
from saratoga_client.practice.deals import (
    LONGEST_SEED,
    BadSeed,
    PracticeDeal,
    drawn_seed,
    from_seed,
)
from saratoga_client.practice.hints import safe_move
from saratoga_client.practice.practice_session import (
    Ghost,
    PracticeSession,
    best_ghost,
    gap_text,
    is_known_stuck,
    keep_run,
    kept_runs,
)
from saratoga_client.review.boards import Climb
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.play import IllegalMove, play
from saratoga_rules.position import Position, redact

CANFIELD, KLONDIKE, LAFAYETTE = GAMES["canfield"], GAMES["klondike"], GAMES["lafayette"]
every_game = pytest.mark.parametrize("name", GAMES)


def fresh(name: str = "canfield", seed: str = "demo", **more: object) -> PracticeSession:
    given: dict[str, object] = {"seconds": StoppedClock(), **more}
    return PracticeSession(from_seed(GAMES[name], seed), **given)  # type: ignore[arg-type]


def of(position: Position, name: str = "canfield", **more: object) -> PracticeSession:
    return PracticeSession(PracticeDeal(GAMES[name], position, race="mint-otter-42/3"), **more)  # type: ignore[arg-type]


LONGEST = 120
SEEDS = 12


@cache
def _practised(name: str, seed: int) -> tuple[PracticeSession, ...]:
    """Return practice after each step: moves, undos, redos and hints, some seconds apart."""
    chance = Random(f"practice {name} {seed}")
    strategy = STRATEGIES[seed % len(STRATEGIES)]
    clock = StoppedClock()
    session = PracticeSession(from_seed(GAMES[name], f"walk {seed}"), seconds=clock)
    walked = [copied(session)]
    while len(walked) < LONGEST:
        clock.at += chance.random() * 4
        roll = chance.random()
        legal = legal_moves(session.game, session.position)
        if roll < 0.1 and session.made:
            session.undo()
        elif roll < 0.16 and session.undone:
            session.redo()
        elif roll < 0.2:
            session.hint(card_name)
        elif legal:
            session.play(strategy(legal, chance))
        elif session.made:
            session.undo()
        else:
            break
        walked.append(copied(session))
    return tuple(walked)


def practised_to(name: str, place: int) -> PracticeSession:
    """Return practice of a game for a test to go on with; `place` determines the seed and the step."""
    walked = _practised(name, place // LONGEST)
    return copied(walked[place % LONGEST % len(walked)])


def copied(session: PracticeSession) -> PracticeSession:
    """Return a session that goes on from the same state."""
    other = copy(session)
    other.made, other.undone = session.made[:], session.undone[:]
    other.counts = session.counts[:]
    return other


places_in_practice = st.integers(0, SEEDS * LONGEST - 1)
"""Numbers of every step of every practice walk."""


# Deals


def test_a_seed_gives_every_player_the_same_deal() -> None:
    deal = from_seed(CANFIELD, "  rainy sunday ")
    assert deal.seed == "rainy sunday"
    assert deal.position == deal_for_key(CANFIELD, practice_key("rainy sunday"))
    assert deal.title == "seed rainy sunday"


@pytest.mark.parametrize("seed", ["", "   ", "x" * (LONGEST_SEED + 1), "a\x1b[2J"])
def test_an_invalid_seed_is_refused_with_the_reason(seed: str) -> None:
    with pytest.raises(BadSeed, match=r"A seed .*\."):
        from_seed(CANFIELD, seed)


def test_drawn_seeds_differ_and_have_no_letters_that_are_confused() -> None:
    seeds = {drawn_seed() for _ in range(100)}
    assert len(seeds) > 90
    assert not set("ilo01") & set("".join(seeds))


# Moves, undo and redo


@every_game
@given(place=places_in_practice)
def test_undo_then_redo_is_as_if_nothing_had_been_done(name: str, place: int) -> None:
    session = practised_to(name, place)
    before = copied(session)
    if before.made:
        session.undo()
        session.redo()
    assert (session.made, session.undone) == (before.made, before.undone)
    position = session.deal.position
    for made in session.made:
        position = play(session.game, position, made.move)
        assert made.position == position


def test_an_illegal_move_changes_nothing() -> None:
    session = fresh()
    with pytest.raises(IllegalMove):
        session.play(parse_move("t1>t1"))
    assert (session.made, session.counts) == ([], [])


def test_repeating_the_undone_move_keeps_the_other_undone_moves() -> None:
    session = fresh()
    for step in (DRAW, DRAW):
        session.play(step)
    session.undo()
    session.undo()
    session.play(DRAW)
    assert len(session.undone) == 1
    session.play(next(move for move in legal_moves(CANFIELD, session.position) if move != DRAW))
    assert session.undone == []


def test_a_game_without_undo_and_hints_is_clean() -> None:
    session = fresh()
    session.undo()
    session.play(DRAW)
    assert session.is_clean, "nothing was there to be undone"
    undone, advised = copied(session), copied(session)
    undone.undo()
    advised.hint(card_name)
    assert not undone.is_clean
    assert not advised.is_clean


def test_a_board_is_not_called_stuck_before_the_whole_stock_was_seen() -> None:
    deal = fresh().position
    hopeless = deal._replace(
        stock=(), waste=(), reserve=(), columns=((), (), (), ()), up=(1, 0, 0, 0)
    )
    assert is_known_stuck(CANFIELD, hopeless)
    assert not is_known_stuck(CANFIELD, hopeless._replace(stock=deal.stock[:1]))


# Hints and safe cards


@every_game
@given(place=places_in_practice)
def test_a_hint_is_legal_fits_one_line_and_is_the_same_when_repeated(name: str, place: int) -> None:
    session = practised_to(name, place)
    position = session.position
    move, says = session.hint(card_name)
    assert move is None or move in legal_moves(session.game, position)
    assert len(says) <= 79, says
    assert session.position == position
    assert not {"#", "?"} & set(says)
    assert session.hint(card_name) == (move, says)


@every_game
@given(seed=st.integers(0, 200), chance=st.randoms(use_true_random=False))
def test_no_hint_looks_at_a_hidden_card(name: str, seed: int, chance: Random) -> None:
    position = from_seed(GAMES[name], f"hidden {seed}").position
    hidden = slots(position)
    shuffled = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
    other = rearranged(position, shuffled)
    assert of(position, name).hint(card_name) == of(other, name).hint(card_name)


FACE_DOWN_ACE = draw(KLONDIKE, "t1: AS | 8H\nt2: 9S\nt3: 4D\nt4: 6D\nt5: 2D\nt6: QD\nt7: KD")
"""A move turns a card up, and then another one banks an ace."""


def test_a_hint_says_that_a_card_turns_up_and_not_which() -> None:
    assert of(FACE_DOWN_ACE, "klondike").hint(card_name) == (
        parse_move("t1>t2"),
        "Hint: 8♥ from column 1 to column 2: that turns a card up.",
    )


def test_after_an_undo_the_card_that_had_turned_up_is_face_down_and_hints_do_not_use_it() -> None:
    session = of(FACE_DOWN_ACE, "klondike")
    view, memory, first = session.view, session.memory, copied(session).hint(card_name)
    session.play(parse_move("t1>t2"))
    assert session.view.columns[0] == ("AS",)
    session.undo()
    assert (session.view, session.memory) == (view, memory)
    assert session.hint(card_name) == first


@every_game
def test_hints_alone_bank_something_and_come_to_an_end(name: str) -> None:
    session = fresh(name, "led by the hand")
    dealt = session.banked
    for _ in range(600):
        move, _ = session.hint(card_name)
        if move is None:
            break
        session.play(move)
    assert move is None
    assert session.banked > dealt


def test_without_a_useful_move_the_hint_says_so() -> None:
    empty = fresh().position._replace(
        stock=(), waste=(), reserve=(), columns=((), (), (), ()), up=(1, 0, 0, 0)
    )
    move, says = of(empty).hint(card_name)
    assert move is None
    assert "no legal move" in says
    assert "won" in of(empty._replace(up=(13, 13, 13, 13))).hint(card_name).says


@every_game
@given(place=places)
def test_a_safe_move_is_legal_and_banks_a_card(name: str, place: int) -> None:
    step = step_at(name, place)
    move = safe_move(step.game, redact(step.position))
    if move is not None:
        assert move in step.legal
        assert play(step.game, step.position, move).banked == step.position.banked + 1


@pytest.mark.parametrize(
    ("picture", "safe"),
    [
        ("t1: 7C\nt2: 9D\nbase: 7\nup: H1", "t1>up"),  # a base card
        # the eight of hearts could still hold the seven of clubs, which is in play
        ("t1: 8H\nt2: 2D\nwaste: 7C 2H\nbase: 7\nup: H1 S1", ""),
        ("t1: 8H\nt2: 2D\nwaste: 2H\nbase: 7\nup: H1 S1 C1", "t1>up"),
    ],
)
def test_a_card_is_safe_if_nothing_in_play_could_be_built_on_it(picture: str, safe: str) -> None:
    assert str(safe_move(CANFIELD, redact(draw(CANFIELD, picture))) or "") == safe


def test_every_card_is_safe_if_banking_alone_wins() -> None:
    session = of(
        draw(LAFAYETTE, "t1: QH\nt2: KH\nt3: JS\nt4: QS KS\nup: C13 D13 H11 S10"), "lafayette"
    )
    assert session.bank_safe().startswith("Won: all 52 banked")
    assert len(session.made) == 5


def test_banking_the_safe_cards_says_how_many() -> None:
    session = of(draw(CANFIELD, "t1: AS\nt2: 9C\nbase: A"))
    assert session.bank_safe() == "1 safe card banked."
    assert session.bank_safe() == "Nothing is safe to bank now: f banks what you choose."


# Runs, ghosts and the shared text


def test_a_restart_keeps_the_run_with_its_undone_cards_and_deals_the_same_cards() -> None:
    clock = StoppedClock()
    session = fresh(seconds=clock)
    deal = session.position
    session.restart()
    assert kept_runs(session.deal) == [], "nothing was done yet"
    bank = parse_move("t4>up")
    for at, action in enumerate((lambda: session.play(bank), session.undo, session.redo), 1):
        clock.at = at / 10
        action()
    clock.at = 65.0
    session.restart()
    assert session.position == deal
    assert (session.made, session.undone, session.counts, session.is_clean) == ([], [], [], True)
    counts = ((100, 2), (200, 1), (300, 2))
    run = Ghost("your run, 2 banked in 1:05", Climb(1, counts, 65_000))
    assert kept_runs(session.deal) == [run]


def test_a_ghost_from_a_race_belongs_to_its_deal_only() -> None:
    ghost = Ghost("ana in mint-otter-42/3", Climb(1, ((5, 30),), 9))
    session = fresh(ghosts=[ghost])
    assert session.ghost == ghost
    session.deal_anew()
    assert session.ghost is None


def test_a_won_game_stops_its_clock_and_stays_won() -> None:
    clock = StoppedClock()
    nearly = draw(CANFIELD, "t1: KS\nt2: KH\nup: C13 S12 H12 D13\nbase: A")
    session = of(nearly, seconds=clock)
    clock.at = 75.0
    won = "Won: all 52 banked in 1:15, clean. y copies the result, n deals anew."
    assert session.bank_safe() == won
    clock.at = 100.0
    assert session.elapsed == 75_000
    session.undo()
    session.restart()
    assert [run.words for run in kept_runs(session.deal)] == ["your run, won in 1:15"]


def test_practice_goes_on_when_a_run_cannot_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("saratoga_client.practice.practice_session.replace_file", full)
    session = fresh()
    session.play(DRAW)
    session.restart()
    assert session.save_error == "This run could not be saved: No space left on device."
    assert session.play(DRAW) == ""


def run(banked: int, at: int = 500) -> Ghost:
    return Ghost(f"your run, {banked} banked in 0:09", Climb(1, ((at, banked),), 9_000))


def test_the_best_run_of_a_deal_is_kept_and_an_unreadable_file_is_replaced(tmp_path: Path) -> None:
    deal = from_seed(CANFIELD, "demo")
    for each in (run(3), run(5), run(5, at=900), run(4)):
        keep_run(deal, each)
    assert kept_runs(deal) == [run(5)]
    assert kept_runs(from_seed(LAFAYETTE, "demo")) == []
    (path,) = tmp_path.rglob("seed-demo.json")
    path.write_bytes(b'[{"words": 1}]')
    assert kept_runs(deal) == []
    keep_run(deal, run(2))
    assert kept_runs(deal) == [run(2)]


def test_every_deal_has_a_file_of_its_own(tmp_path: Path) -> None:
    seeds = ["a", "A", "a b", "a/b", "..", "é", "_61_"]
    for seed in seeds:
        keep_run(from_seed(CANFIELD, seed), run(2))
    paths = list(tmp_path.rglob("canfield/*.json"))
    assert len({path.name.lower() for path in paths}) == len(seeds)
    assert all(set(path.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_") for path in paths)


def test_the_best_ghost_banked_most_and_first() -> None:
    fast, slow = run(4), run(4, at=8000)
    assert best_ghost([slow, run(3), fast]) is fast
    assert best_ghost([]) is None


def test_the_gap_is_given_in_cards() -> None:
    ghost = Ghost("a ghost", Climb(1, ((1000, 1), (2000, 2), (5000, 4)), 9000))
    assert gap_text(ghost, 2, 2500) == "level with the ghost"
    assert gap_text(ghost, 3, 2500) == "1 card ahead of the ghost"
    assert gap_text(ghost, 2, 5000) == "2 cards behind the ghost"


def test_the_text_mentions_undos_and_hints() -> None:
    clock = StoppedClock()
    session = fresh(seed="it's me", seconds=clock)
    session.play(DRAW)
    session.undo()
    clock.at = 65.0
    assert "in 1:05, 1 undo\n" in session.share
    assert shlex.split(session.share.partition("Try it: ")[2])[-2:] == ["--seed", "it's me"]
