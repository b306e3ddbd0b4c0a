from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.solo_player import finished
from saratoga_client.input.move_text import LINE, card_name, turned_up
from saratoga_client.input.pile_keys import has_pile
from saratoga_client.review.boards import open_boards
from saratoga_client.review.divergence import first_divergence
from saratoga_client.review.pauses import longest_pauses
from saratoga_client.review.replay import Replay, replay_of
from saratoga_client.tui.pages.replay_words import (
    divergence_text,
    face_down_columns,
    hidden_cards,
    last_move_text,
    next_move_text,
    pause_text,
)
from saratoga_rules.games import GAMES
from saratoga_rules.moves import RESERVE


@cache
def replayed(name: str = "lafayette") -> Replay:
    return replay_of(finished(name))


every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@given(step=st.integers(0, 70), index=st.integers(0, 2))
def test_every_step_fits_a_line_and_equals_the_next_move_before_it(
    name: str, step: int, index: int
) -> None:
    before = replayed(name).of(index).stepped(step)
    after = before.stepped(1)
    assert 0 < len(last_move_text(after, card_name)) <= LINE
    if after.step != before.step and after.entry is not None and after.entry.is_move:
        assert next_move_text(before, card_name) in last_move_text(after, card_name)


@every_game
def test_differences_and_pauses_fit_a_line(name: str) -> None:
    for index in range(3):
        replay = replayed(name).of(index)
        divergence = first_divergence(replay.game, replay.board, replay.rival)
        assert divergence is not None
        assert len(divergence_text(replay, divergence)) <= LINE
        for pause in longest_pauses(replay.board):
            assert len(pause_text(pause)) <= LINE


def test_the_last_entry_is_named_by_its_ending() -> None:
    end = replayed().at_end()
    assert last_move_text(end, card_name).startswith("Cashed out at ")
    assert next_move_text(end, card_name) == "nothing: the board has ended"
    assert next_move_text(end.stepped(-1), card_name) == "cashed out"


@every_game
def test_hidden_cards_are_listed_in_the_order_of_turning_up(name: str) -> None:
    game, deal = GAMES[name], finished(name).deal
    *reserves, (_, stock) = hidden_cards(game, deal)
    assert stock == deal.stock
    assert [cards for _, cards in reserves] == [deal.reserve[-2::-1]] * has_pile(game, RESERVE)
    assert [cards for _, cards in face_down_columns(deal)] == [
        cards[::-1] for cards in deal.face_down if cards
    ]


def test_the_last_move_names_the_card_that_it_turned_up() -> None:
    record = finished("klondike")
    replay, board = replay_of(record), open_boards(record)[0]
    step = next(
        step
        for step in range(1, len(board.positions))
        if turned_up(board.view(step - 1), board.view(step)) is not None
    )
    card = turned_up(board.view(step - 1), board.view(step))
    assert card is not None
    assert f"; {card_name(card)} turns up" in last_move_text(replay.stepped(step), card_name)
    assert "turns up" not in last_move_text(replay.stepped(step - 1), card_name)
