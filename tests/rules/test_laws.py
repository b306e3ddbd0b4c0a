"""Laws that hold in every game and every position."""

from collections import Counter
from itertools import chain, islice, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.walks import places, step_at
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN, PACK, RANKS, SUITS, Card, card_of, parse_cards
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    DRAW,
    REDEAL,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Move,
    parse_move,
)
from saratoga_rules.play import IllegalMove, is_won, play, refusal
from saratoga_rules.position import Position, format_position, parse_position, redact

every_game = pytest.mark.parametrize("name", GAMES)

SOURCES = (WASTE, RESERVE, *COLUMN_NAMES[:13], *TAKE_BACK_INDEX)
TARGETS = (UP, DOWN, *COLUMN_NAMES[:13])

COUNTS = (1, 1, 1, 1, 2, 3, 4, 5, 13)

any_move: st.SearchStrategy[Move] = st.sampled_from(
    [DRAW, REDEAL, *map(Carry, *zip(*product(SOURCES, TARGETS, COUNTS), strict=True))]
)


def cards_of(game: Game, position: Position) -> Counter[Card]:
    """Return every card of a position, including those on the foundations."""
    found = Counter([*position.stock, *position.waste, *position.reserve])
    for pile in (*position.columns, *position.face_down):
        found.update(pile)
    for heights, first, direction in ((position.up, position.base, 1), (position.down, 13, -1)):
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            suit = SUITS[index // copies]
            for step in range(height):
                found[card_of((first - 1 + direction * step) % len(RANKS) + 1, suit)] += 1
    return found


def dealt_otherwise(position: Position, chance: Random) -> Position:
    """Return a position that differs from `position` in hidden cards only."""
    hidden = [*position.stock, *position.reserve[:-1], *chain(*position.face_down)]
    chance.shuffle(hidden)
    cards = iter(hidden)
    return position._replace(
        stock=tuple(islice(cards, len(position.stock))),
        reserve=(*islice(cards, len(position.reserve[:-1])), *position.reserve[-1:]),
        face_down=tuple(tuple(islice(cards, len(pile))) for pile in position.face_down),
    )


# Cards


@every_game
@given(place=places)
def test_no_card_is_lost_or_added(name: str, place: int) -> None:
    game, position, _, _ = step_at(name, place)
    assert cards_of(game, position) == Counter(PACK * game.packs)


@every_game
@given(nonce=st.binary(min_size=16, max_size=16))
def test_every_deal_has_all_cards(name: str, nonce: bytes) -> None:
    game = GAMES[name]
    deal = deal_for_key(game, deal_key(bytes(32), "mint-otter-42/1", {"anna": nonce}))
    assert cards_of(game, deal) == Counter(PACK * game.packs)
    assert deal.passes == 1
    assert not deal.waste
    assert not is_won(game, deal)


@every_game
@given(place=places)
def test_the_count_is_the_number_of_cards_on_the_foundations(name: str, place: int) -> None:
    game, position, _, _ = step_at(name, place)
    elsewhere = len(position.stock) + len(position.waste) + len(position.reserve)
    elsewhere += sum(map(len, (*position.columns, *position.face_down)))
    assert position.banked == game.cards - elsewhere
    assert is_won(game, position) == (elsewhere == 0)


@every_game
@given(place=places)
def test_the_count_falls_only_by_taking_back(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    for move in legal:
        gained = play(game, position, move).banked - position.banked
        match move:
            case Carry(source=source) if source in TAKE_BACK_INDEX:
                assert gained == -1
            case Carry(target="up" | "down"):
                assert gained == 1
            case _:
                assert gained == 0


@every_game
@given(place=places)
def test_the_stock_only_shrinks_except_at_a_redeal(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    for move in legal:
        after = play(game, position, move)
        if move == REDEAL:
            assert (after.stock, after.waste) == (position.waste, ())
            assert after.passes == position.passes + 1
        else:
            assert after.stock == position.stock[len(position.stock) - len(after.stock) :]
            assert after.passes == position.passes


@every_game
@given(place=places)
def test_a_face_down_card_turns_up_when_it_is_uncovered_and_never_else(
    name: str, place: int
) -> None:
    game, position, legal, _ = step_at(name, place)
    for move in legal:
        after = play(game, position, move)
        was = position.face_down or ((),) * len(position.columns)
        left = after.face_down or ((),) * len(position.columns)
        for index, (old, new) in enumerate(zip(was, left, strict=True)):
            assert bool(after.columns[index]) or not new, "a column ends in a face-up card"
            if new != old:
                assert isinstance(move, Carry)
                assert move.origin == index
                assert move.count == len(position.columns[index])
                assert (new, after.columns[index]) == (old[:-1], old[-1:])
            elif old:
                assert after.columns[index][:1] == position.columns[index][:1]


# Secrecy


@every_game
@given(place=places)
def test_a_view_allows_the_moves_that_the_position_allows(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    assert legal_moves(game, redact(position)) == list(legal)


@every_game
@given(place=places, move=any_move)
def test_a_view_refuses_for_the_reason_for_which_the_position_refuses(
    name: str, place: int, move: Move
) -> None:
    game, position, _, _ = step_at(name, place)
    assert refusal(game, redact(position), move) is refusal(game, position, move)


@every_game
@given(place=places, seed=st.integers(0, 999))
def test_positions_that_differ_in_hidden_cards_look_the_same(
    name: str, place: int, seed: int
) -> None:
    game, position, legal, _ = step_at(name, place)
    other = dealt_otherwise(position, Random(seed))
    assert redact(other) == redact(position)
    assert legal_moves(game, other) == list(legal)


@every_game
@given(place=places)
def test_a_view_hides_the_stock_the_reserve_but_its_top_and_the_face_down_cards(
    name: str, place: int
) -> None:
    _, position, _, _ = step_at(name, place)
    view = redact(position)
    assert view.stock == (HIDDEN,) * len(position.stock)
    assert view.reserve[:-1] == (HIDDEN,) * len(position.reserve[:-1])
    assert view.reserve[-1:] == position.reserve[-1:]
    assert view.face_down == tuple((HIDDEN,) * len(pile) for pile in position.face_down)
    nothing = position._replace(stock=(), reserve=(), face_down=())
    assert view._replace(stock=(), reserve=(), face_down=()) == nothing
    assert redact(view) == view


@every_game
@given(place=places)
def test_a_move_reveals_only_the_cards_that_it_turns_up(name: str, place: int) -> None:
    """A move turns up the next cards of stock, reserve or a column, and no deeper cards."""
    game, position, legal, _ = step_at(name, place)
    reach = game.columns.count
    chance = Random(0)
    deeper = list(position.stock[reach:])
    chance.shuffle(deeper)
    below = list(position.reserve[:-2])
    chance.shuffle(below)
    other = position._replace(
        stock=(*position.stock[:reach], *deeper),
        reserve=(*below, *position.reserve[-2:]),
        face_down=tuple((*pile[-2::-1], *pile[-1:]) for pile in position.face_down),
    )
    for move in legal:
        if move != REDEAL:
            assert redact(play(game, other, move)) == redact(play(game, position, move))


# Text


@every_game
@given(place=places)
def test_positions_and_views_come_back_from_their_text(name: str, place: int) -> None:
    _, position, _, _ = step_at(name, place)
    assert parse_position(format_position(position)) == position
    view = redact(position)
    assert parse_position(format_position(view)) == view


@given(any_move)
def test_any_move_comes_back_from_its_text(move: Move) -> None:
    assert parse_move(str(move)) == move


@given(st.text(max_size=12) | st.text("drawetlup.CSHD>:0123456789", max_size=12))
def test_a_parsed_move_is_written_the_same_way(text: str) -> None:
    try:
        move = parse_move(text)
    except ValueError:
        return
    assert str(move) == text


@given(st.lists(st.sampled_from([*PACK, HIDDEN])))
def test_cards_come_back_from_their_text(cards: list[Card]) -> None:
    assert parse_cards("".join(cards)) == tuple(cards)


# Judging


@every_game
@given(place=places, move=any_move)
def test_a_move_is_played_if_it_is_legal_and_refused_if_not(
    name: str, place: int, move: Move
) -> None:
    game, position, legal, _ = step_at(name, place)
    reason = refusal(game, position, move)
    assert (reason is None) == (move in legal)
    if reason is None:
        assert play(game, position, move) != position
        return
    before = format_position(position)
    with pytest.raises(IllegalMove) as refused:
        play(game, position, move)
    assert (refused.value.move, refused.value.refusal) == (move, reason)
    assert format_position(position) == before
