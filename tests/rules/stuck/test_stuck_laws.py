"""Laws of stuck boards that hold in every game and every position."""

from functools import cache
from itertools import chain, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.conformance import PlayedGame, played_games
from kit.walks import Step, banking, places, step_at, walk
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position
from saratoga_rules.stuck.stuck import StuckSearch, is_stuck, may_declare

every_game = pytest.mark.parametrize("name", GAMES)

STUCK_LIMIT = 300
"""The most arrangements to search; longer searches are skipped."""


def turned_otherwise(position: Position, chance: Random) -> Position:
    """Return a position that differs from `position` only in face-down cards of columns and reserve."""
    below = list(position.reserve[:-1])
    chance.shuffle(below)
    face_down = list(chain(*position.face_down))
    chance.shuffle(face_down)
    cards = iter(face_down)
    return position._replace(
        reserve=(*below, *position.reserve[-1:]),
        face_down=tuple(tuple(islice(cards, len(pile))) for pile in position.face_down),
    )


@every_game
@given(place=places)
def test_a_stuck_board_never_banks_more_whatever_is_played(name: str, place: int) -> None:
    step = stuck_at(name, place)
    game, position = step.game, step.position
    chance = Random(0)
    for _ in range(100):
        legal = legal_moves(game, position)
        if not legal:
            return
        position = play(game, position, chance.choice(legal))
        assert position.banked <= step.position.banked


@every_game
@given(place=places)
def test_a_board_declared_stuck_stays_stuck(name: str, place: int) -> None:
    game, position, legal, _ = stuck_at(name, place)
    for move in legal:
        after = play(game, position, move)
        if after.banked == position.banked:
            assert is_stuck(game, after, limit=STUCK_LIMIT) is not False


@every_game
@given(place=places, seed=st.integers(0, 999))
def test_declaring_a_board_stuck_reveals_nothing_about_cards_that_lie_face_down(
    name: str, place: int, seed: int
) -> None:
    game, position, _, _ = step_at(name, place)
    if not may_declare(position):
        return
    search = StuckSearch(game, position)
    other = StuckSearch(game, turned_otherwise(position, Random(seed)))
    for arrangements in (0, *(1,) * 10, STUCK_LIMIT):
        assert other.advance(arrangements) is search.advance(arrangements)


@every_game
def test_there_are_boards_for_these_laws(name: str) -> None:
    assert len(stuck_places(name)) >= 4


def stuck_at(name: str, place: int) -> Step:
    """Return a place where the server would declare the board stuck."""
    found = stuck_places(name)
    return found[place % len(found)]


@cache
def stuck_places(name: str) -> list[Step]:
    """Return the first step of each walk and played game at which the board is declared stuck, if any."""
    ways = [walk(name, seed, banking) for seed in range(6)] if name != "lady-palk" else []
    ways += [_way_of(played) for played in played_games(name) if not played.won]
    found = (_first_stuck(way) for way in ways)
    return [step for step in found if step is not None]


def _way_of(played: PlayedGame) -> tuple[Step, ...]:
    game, position = played.game, played.opening()
    way: list[Step] = []
    for step in played.steps:
        legal = tuple(map(parse_move, step.legal))
        move = parse_move(step.move) if step.move else None
        way.append(Step(game, position, legal, move))
        if move is not None:
            position = play(game, position, move)
    return tuple(way)


def _first_stuck(way: tuple[Step, ...]) -> Step | None:
    for step in way[::5] + way[-1:]:
        if may_declare(step.position) and is_stuck(step.game, step.position, limit=STUCK_LIMIT):
            return step
    return None
