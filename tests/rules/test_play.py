"""The legal moves are exactly the moves that are not refused, and a refusal says what is wrong."""

import doctest
from collections.abc import Iterator

import pytest

import saratoga_rules
from kit.conformance import sampled_positions
from kit.positions import draw, refused
from kit.walks import STRATEGIES, Strategy, walk, wandering
from saratoga_rules.analysis import Analysis, legal_moves
from saratoga_rules.cards import SUITS
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
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
    for position in (*sampled_positions(name), *walked):
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


ODD = [
    (CANFIELD, "t1: 9H 8C\nt3: TC\nreserve: 4D KH\nwaste: 6H\nstock: 2C\nbase: 5"),
    (CANFIELD_AISLERIOT, "t1: 9H 8C\nt3: TC\nreserve: 4D KH\nwaste: 6H\nup: S4 H1\nbase: 5"),
    (CANFIELD_AISLERIOT, "up: S13 H13 C13 D13\nbase: 5"),
    (CANFIELD_AISLERIOT, "t1: 2H AC KH QC JD TS 9D 8C\nt2: 3S\nt3: 3C\nup: S4 H1\nbase: 5"),
    (LAFAYETTE, "t1: 7C\nt2: 7S 6H\nreserve: 8D\nwaste: 8H\nup: C6 S6\ndown: C6 S6"),
    (LADY_PALK, "t1: KC QH\nt2: 3C KH QH JH\nt3: QS\nt4: QS\nwaste: KH\nup: C5,4 S2,2"),
    (LADY_PALK, "t1: 9C | KC QH\nt2: 3C 4H | KH QS\nt4: TH | 9S\nt5: AC | 2C\nup: C1"),
    (CAPRICE, "t1: 7C\nt2: 7S 6S 5S 6S\nt5: 8S\nt6: 8S\nt7: 7S\nstock: 2H\nup: C6\ndown: C6"),
]


@pytest.mark.parametrize(("game", "picture"), ODD)
def test_that_also_holds_in_positions_that_play_hardly_reaches(game: Game, picture: str) -> None:
    position = draw(game, picture)
    assert set(legal_moves(game, position)) == {
        move for move in conceivable(position) if refusal(game, position, move) is None
    }


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("t5>t1", Refusal.NO_SUCH_PILE),
        ("t1>t5", Refusal.NO_SUCH_PILE),
        ("w>t99", Refusal.NO_SUCH_PILE),
        ("t1>down", Refusal.NO_SUCH_PILE),
        ("t1>t1", Refusal.SAME_PILE),
        ("w>t1", Refusal.NOTHING_TO_CARRY),
        ("t4>t1", Refusal.NOTHING_TO_CARRY),
        ("t2>t1:3", Refusal.NOT_SO_MANY),
        ("t1>up:2", Refusal.ONE_AT_A_TIME),
        ("r>t1:2", Refusal.ONE_AT_A_TIME),
        ("t1>t2", Refusal.NOT_A_PACKET),
        ("t2>t1:2", Refusal.DOES_NOT_BUILD),
        ("t2>up", Refusal.FOUNDATION_WAITS),
        ("t1>t4:2", Refusal.CHANGES_NOTHING),
        ("r>t4", Refusal.NOT_INTO_A_SPACE),
        ("up.S>t1", Refusal.NOT_FROM_FOUNDATIONS),
        ("redeal", Refusal.NOTHING_TO_REDEAL),
        ("draw", Refusal.STOCK_IS_EMPTY),
    ],
)
def test_every_refusal_says_what_is_wrong(move: str, reason: Refusal) -> None:
    position = draw(CANFIELD, "t1: 9H 8C\nt2: 7C 6D\nt3: 2C\nreserve: KH\nbase: 5")
    assert refused(CANFIELD, position, move) is reason


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
