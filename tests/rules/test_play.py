"""The legal moves are exactly the moves that are not refused, and a refusal says what is wrong."""

import doctest
from collections.abc import Iterator
from random import Random

import pytest

import saratoga_rules
from kit.conformance import sampled_positions
from kit.positions import draw, refused, small_position
from kit.walks import STRATEGIES, Strategy, walk, wandering
from saratoga_rules.analysis import Analysis, legal_moves
from saratoga_rules.cards import SUITS
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.moves import COLUMN_NAMES, DRAW, REDEAL, Carry, Move
from saratoga_rules.play import Refusal, refusal
from saratoga_rules.position import Position, redact
from saratoga_rules.stuck.prospects import is_in_sight


def test_the_example_of_the_package_works() -> None:
    found = doctest.testmod(saratoga_rules)
    assert found.attempted >= 8
    assert found.failed == 0


def conceivable(position: Position) -> Iterator[Move]:
    """Yield every conceivable move of a position, and some impossible ones."""
    yield DRAW
    yield REDEAL
    columns = COLUMN_NAMES[: len(position.columns) + 1]
    longest = max(map(len, position.columns)) + max(position.face_down_counts, default=0)
    foundations = [f"up.{letter}" for letter in SUITS]
    for source in ("w", "r", *foundations, *columns):
        for target in ("up", "down", *columns):
            for count in range(longest + 2 if source in columns else 3):
                yield Carry(source, target, count)


@pytest.mark.parametrize("name", GAMES)
def test_the_legal_moves_are_all_conceivable_moves_that_are_not_refused(name: str) -> None:
    game = GAMES[name]
    walked = [step.position for step in walk(name, 0, wandering)[::10]]
    chance = Random(f"any positions of {name}")
    drawn = [small_position(game, chance) for _ in range(60)]
    for position in (*sampled_positions(name), *walked, *drawn):
        listed = legal_moves(game, position)
        assert len(set(listed)) == len(listed)
        assert set(listed) == {
            move for move in conceivable(position) if refusal(game, position, move) is None
        }


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GAMES)
def test_an_analysis_made_from_the_one_before_is_that_of_the_position_alone(
    name: str, strategy: Strategy
) -> None:
    analysis = None
    for game, position, legal, _ in walk(name, 1, strategy):
        analysis = Analysis(game, position, analysis)
        assert analysis.legal_moves() == list(legal)
        assert is_in_sight(analysis) == is_in_sight(Analysis(game, position))


@pytest.mark.parametrize("move", ["t1>t2:3", "t1>t2:4", "t1>t1:3", "t1>t4:4", "t1>up:3"])
def test_a_packet_never_reaches_into_the_face_down_cards(move: str) -> None:
    assert refused(LADY_PALK, draw(LADY_PALK, "t1: 9C | KS QH"), "t1>t2:2") is None
    # the TC and the JH would continue the run
    position = draw(LADY_PALK, "t1: JH TC | 9H 8C\nt2: QC\nt3: TD")
    for shown in (position, redact(position)):
        assert refused(LADY_PALK, shown, move) is Refusal.NOT_A_PACKET
        assert refused(LADY_PALK, shown, "t1>t3:2") is None
        assert refused(LADY_PALK, shown, "t1>t3:5") is Refusal.NOT_SO_MANY


def test_an_impossible_move_object_is_refused() -> None:
    position = draw(CANFIELD, "t1: 9H 8C\nt2: TC\nt3: 2C")
    for made_up in (Carry("x", "t1"), Carry("t1", "x"), Carry("t1", "w"), Carry("up", "t1")):
        assert refusal(CANFIELD, position, made_up) is Refusal.NO_SUCH_PILE
    for count in (-1, 0):
        assert refusal(CANFIELD, position, Carry("t1", "t2", count)) is Refusal.NOT_SO_MANY
        assert refusal(CANFIELD, position, Carry("w", "t2", count)) is Refusal.ONE_AT_A_TIME
