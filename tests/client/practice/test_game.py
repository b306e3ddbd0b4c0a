"""Practice: deals, moves, hints and safe moves."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import draw
from kit.races import Entrant, race
from kit.secrecy import rearranged, slots
from kit.solo_player import moments, practice_at
from kit.walks import banking, places, step_at
from saratoga_client.practice.deals import (
    LONGEST_SEED,
    SEED_LETTERS,
    BadSeed,
    PracticeDeal,
    file_name,
    from_record,
    from_seed,
    seed_of,
)
from saratoga_client.practice.game import (
    Aid,
    PracticeGame,
    counts,
    is_known_stuck,
    make,
    new_game,
    redo,
    restart,
    undo,
    with_hint,
)
from saratoga_client.practice.hints import banking_moves, hint, safe_move
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.play import IllegalMove, play
from saratoga_rules.position import Position, redact

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
def test_a_restart_is_the_deal_with_an_empty_log(name: str, place: int) -> None:
    practice = practice_at(name, place)
    assert restart(practice) == new_game(practice.deal)
    assert restart(practice).is_clean


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


def test_a_seed_gives_every_player_the_same_deal() -> None:
    deal = from_seed(CANFIELD, "  rainy sunday ")
    assert deal.seed == "rainy sunday"
    assert deal.position == deal_for_key(CANFIELD, practice_key("rainy sunday"))
    assert deal.title == "seed rainy sunday"


@pytest.mark.parametrize("seed", ["", "   ", "x" * (LONGEST_SEED + 1), "a\x1b[2J"])
def test_an_invalid_seed_is_refused_with_the_reason(seed: str) -> None:
    with pytest.raises(BadSeed, match=r"A seed .*\."):
        from_seed(CANFIELD, seed)


def test_the_deal_of_a_finished_race_is_its_record_s() -> None:
    record = race("lafayette", 3, [Entrant("Anna", banking, patience=20)])
    deal = from_record(record)
    assert deal.position == record.deal
    assert deal.game is GAMES["lafayette"]
    assert deal.title == "the deal of mint-otter-42/4"


def test_a_drawn_seed_is_of_letters_that_are_not_confused() -> None:
    seed = seed_of(bytes(range(0, 250, 7)))
    assert len(seed) == 36
    assert set(seed) <= set(SEED_LETTERS)
    assert not set("ilo01") & set(seed)


def test_every_deal_has_a_file_name_of_its_own() -> None:
    seeds = ["a", "A", "a b", "a/b", "..", "é", "_61_"]
    names = {file_name(from_seed(CANFIELD, seed)) for seed in seeds}
    assert len(names) == len(seeds)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_") for name in names)


KLONDIKE = GAMES["klondike"]


@every_game
@given(place=moments)
def test_a_hint_is_legal_and_fits_one_line(name: str, place: int) -> None:
    practice = practice_at(name, place)
    advice = hint(practice, practice.last_at)
    move = advice.hint.move
    assert move is None or move in legal_moves(practice.game, practice.position)
    assert len(advice.hint.says) <= 79, advice.hint.says
    assert advice.practice.position == practice.position
    assert "#" not in advice.hint.says
    assert "?" not in advice.hint.says


@every_game
@given(place=moments)
def test_a_repeated_hint_is_the_same(name: str, place: int) -> None:
    practice = practice_at(name, place)
    first = hint(practice, practice.last_at)
    assert hint(first.practice, practice.last_at).hint == first.hint


@every_game
@given(seed=st.integers(0, 200), chance=st.randoms(use_true_random=False))
def test_no_hint_looks_at_a_hidden_card(name: str, seed: int, chance: Random) -> None:
    game = GAMES[name]
    deal = from_seed(game, f"hidden {seed}")
    position = deal.position
    hidden = slots(position)
    shuffled = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
    other = PracticeDeal(game, rearranged(position, shuffled), seed=deal.seed)
    one, two = new_game(deal), new_game(other)
    assert hint(one, 0).hint == hint(two, 0).hint


def face_down_ace() -> PracticeDeal:
    """Return a deal in which a move turns a card up, and then another one banks an ace."""
    position = draw(KLONDIKE, "t1: AS | 8H\nt2: 9S\nt3: 4D\nt4: 6D\nt5: 2D\nt6: QD\nt7: KD")
    return PracticeDeal(KLONDIKE, position, seed="drawn")


def test_a_hint_says_that_a_card_turns_up_and_not_which() -> None:
    advice = hint(new_game(face_down_ace()), 0)
    assert advice.hint.move == parse_move("t1>t2")
    assert advice.hint.says == "Hint: 8♥ from column 1 to column 2: that turns a card up."


def test_after_an_undo_the_card_that_had_turned_up_is_face_down_and_hints_do_not_use_it() -> None:
    first = hint(new_game(face_down_ace()), 0)
    turned = make(new_game(face_down_ace()), parse_move("t1>t2"), 1)
    assert turned.view.columns[0] == ("AS",)
    assert turned.view.face_down == ()
    back = undo(turned, 2)
    assert back.view == first.practice.view
    assert back.memory == new_game(face_down_ace()).memory
    assert hint(back, 3).hint == first.hint
    assert not back.is_clean


@every_game
def test_hints_alone_bank_something_and_come_to_an_end(name: str) -> None:
    practice = new_game(from_seed(GAMES[name], "led by the hand"))
    for at in range(600):
        advice = hint(practice, at)
        practice = advice.practice
        if advice.hint.move is None:
            break
        practice = make(practice, advice.hint.move, at)
    assert advice.hint.move is None
    assert practice.banked > practice.deal.position.banked
    assert practice.hints


def test_without_a_useful_move_the_hint_says_so() -> None:
    practice = new_game(from_seed(GAMES["canfield"], "demo"))
    deal = practice.deal.position._replace(
        stock=(), waste=(), reserve=(), columns=((), (), (), ()), up=(1, 0, 0, 0)
    )
    empty = new_game(PracticeDeal(GAMES["canfield"], deal, seed="demo"))
    assert hint(empty, 0).hint.move is None
    assert "no legal move" in hint(empty, 0).hint.says
    won = new_game(PracticeDeal(GAMES["canfield"], deal._replace(up=(13, 13, 13, 13)), seed="demo"))
    assert "won" in hint(won, 0).hint.says


@every_game
@given(place=places)
def test_a_safe_move_is_legal_and_banks_a_card(name: str, place: int) -> None:
    step = step_at(name, place)
    move = safe_move(step.game, redact(step.position))
    if move is not None:
        assert move in step.legal
        assert play(step.game, step.position, move).banked == step.position.banked + 1


def test_a_base_card_is_safe() -> None:
    position = draw(CANFIELD, "t1: 7C\nt2: 9D\nbase: 7\nup: H1")
    assert safe_move(CANFIELD, redact(position)) == parse_move("t1>up")


def test_a_card_on_which_something_may_still_be_built_is_not_safe() -> None:
    # the eight of hearts could still hold the seven of clubs, which is in play
    position = draw(CANFIELD, "t1: 8H\nt2: 2D\nwaste: 7C 2H\nbase: 7\nup: H1 S1")
    assert banking_moves(legal_moves(CANFIELD, redact(position))) == [parse_move("t1>up")]
    assert safe_move(CANFIELD, redact(position)) is None
    both = draw(CANFIELD, "t1: 8H\nt2: 2D\nwaste: 2H\nbase: 7\nup: H1 S1 C1")
    assert safe_move(CANFIELD, redact(both)) == parse_move("t1>up")


def test_every_card_is_safe_if_banking_alone_wins() -> None:
    lafayette = GAMES["lafayette"]
    position = draw(lafayette, "t1: QH\nt2: KH\nt3: JS\nt4: QS KS\nup: C13 D13 H11 S10")
    view = redact(position)
    move = safe_move(lafayette, view)
    assert move is not None
    for _ in range(5):
        move = safe_move(lafayette, redact(position))
        assert move is not None
        position = play(lafayette, position, move)
    assert position.banked == 52
