"""No code between a move and its response reads a hidden card, so response times reveal none.

The judge, the legal moves, a move's result, the view that is sent and the search for stuck boards
are called with positions whose hidden cards raise an error when they are read (`kit/secrecy.py`).
"""

from random import Random

import pytest

from kit.positions import banking, wandering
from kit.secrecy import ODD_MOVES, HiddenCardRead, masked, unmasked
from saratoga_protocol.views import wire_view
from saratoga_rules.analysis import Analysis, legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.play import IllegalMove, is_won, refusal
from saratoga_rules.position import Position, redact
from saratoga_rules.stuck.stuck import INLINE_LIMIT, StuckSearch, may_declare, stuck_search
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board, BoardChange
from saratoga_server.ports import Millis

WALKS = 6
STEPS = 160
SEARCHED = 200
"""The number of arrangements to search: ten times as many as during a request."""


def odd_moves() -> list[Move]:
    found = []
    for text in ODD_MOVES:
        try:
            found.append(parse_move(text))
        except ValueError:
            continue
    return found


def way(game: Game, chance: Random) -> list[Position]:
    """Return the positions of one random game, to its end or for `STEPS` moves."""
    position = deal_for_key(game, practice_key(f"masks {chance.random()}"))
    found = [position]
    for _ in range(STEPS):
        moves = legal_moves(game, position)
        if not moves:
            break
        move = (banking if chance.random() < 0.8 else wandering)(moves, chance)
        position = unmasked(played(game, masked(position), move).position)
        found.append(position)
    return found


def played(game: Game, position: Position, move: Move) -> BoardChange:
    """Play a move as the server does; return the change of the board."""
    return boards.played(game, _board(position), move)


def _board(position: Position) -> Board:
    return boards.open_board(position, Millis(0), bytes(32), "a/1", "a" * 16)


@pytest.mark.parametrize("game", GAMES.values())
def test_no_answer_to_any_move_reads_a_hidden_card(game: Game) -> None:
    chance = Random(f"masks of {game.name}")
    judged = 0
    for _ in range(WALKS):
        for position in way(game, chance):
            covered = masked(position)
            assert legal_moves(game, covered) == legal_moves(game, position)
            assert wire_view(covered) == wire_view(redact(position))
            assert is_won(game, covered) == is_won(game, position)
            for move in odd_moves():
                judged += 1
                no = refusal(game, covered, move)
                assert no == refusal(game, position, move)
                if no is None:
                    assert unmasked(played(game, covered, move).position)
                    continue
                with pytest.raises(IllegalMove):
                    played(game, covered, move)
    assert judged > 1000


@pytest.mark.parametrize("game", GAMES.values())
def test_the_search_for_stuck_reads_no_hidden_card(game: Game) -> None:
    chance = Random(f"searches of {game.name}")
    searched = 0
    for _ in range(WALKS):
        for position in way(game, chance):
            covered = masked(position)
            search = _search(game, covered)
            same = stuck_search(Analysis(game, position))
            if search is None or same is None:
                # There is no search before every stock card was seen.
                assert search is same or not may_declare(position)
                continue
            searched += 1
            for _ in range(SEARCHED // INLINE_LIMIT):
                assert search.advance(INLINE_LIMIT) == same.advance(INLINE_LIMIT)
    assert searched > 10


def _search(game: Game, position: Position) -> StuckSearch | None:
    """Return the search that the server starts after the move to this position."""
    return boards.stuck_search(game, _board(position))


def test_a_server_that_searched_too_early_would_fail_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.domain.board.may_declare", lambda position: True)
    game = GAMES["canfield"]
    covered = [masked(position) for position in way(game, Random("too early"))]
    with pytest.raises(HiddenCardRead):
        any(_search(game, position) for position in covered)
