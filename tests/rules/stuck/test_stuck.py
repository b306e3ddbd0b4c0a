"""`is_stuck` agrees with an exhaustive search by real draws and redeals, and keeps its laws; so does each search."""

from dataclasses import replace
from random import Random

import pytest

from kit.positions import draw, small_position
from kit.secrecy import with_masked_columns
from saratoga_rules.analysis import Analysis, legal_moves
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.moves import DRAW, RESERVE, WASTE, Carry, Move
from saratoga_rules.piles import Pile
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, parse_position
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.peeling import PeelingSearch, can_peel
from saratoga_rules.stuck.prospects import is_in_sight, prospects
from saratoga_rules.stuck.stuck import is_stuck, may_declare, stuck_search
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import ToColumns, Triangle
from saratoga_rules.vocabulary.foundations import First, down_from, up_from
from saratoga_rules.vocabulary.stocks import UNLIMITED, turned
from saratoga_rules.vocabulary.tableau import (
    ANY_RUN,
    ANYTHING,
    KINGS,
    Columns,
    Space,
)

# `is_stuck` agrees with an exhaustive search by real draws and redeals


def variant(
    name: str,
    pairing: Pairing,
    space: Space,
    *,
    gives_back: bool = False,
    triangle: bool = False,
) -> Game:
    """Return an invented game with other rules from the vocabulary of rules."""
    return Game(
        name=name,
        title=name,
        packs=1,
        pack_price=50,
        deal=(Triangle() if triangle else ToColumns(1),),
        columns=Columns(count=4, build=down(pairing), packet=ANY_RUN, space=space),
        up=up_from(First.ACE, gives_back=gives_back),
        stock=turned(2, passes=2),
    )


IN_COLOURS, ANY_SUIT = Pairing.ALTERNATE_COLOUR, Pairing.ANY_SUIT
RESERVE_THEN_ANYTHING = Space(filled_from=Pile.RESERVE, admits=ANYTHING)

VARIANTS = [
    variant("runs in any suit, anything into spaces", ANY_SUIT, Space(admits=ANYTHING)),
    variant(
        "runs in colours, kings into spaces, face-down cards",
        IN_COLOURS,
        Space(admits=KINGS),
        triangle=True,
    ),
    variant(
        "any run, the reserve fills, foundations give back, face-down cards",
        IN_COLOURS,
        RESERVE_THEN_ANYTHING,
        gives_back=True,
        triangle=True,
    ),
]

MOST_POSITIONS = 600
"""The number of positions at which the exhaustive search gives up."""


def really_stuck(game: Game, position: Position) -> bool | None:
    """Search all neutral moves, draws and redeals for a progress move."""
    if is_won(game, position):
        return False
    start = _forgetting_passes(game, position)
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        for move in legal_moves(game, here):
            there = _forgetting_passes(game, play(game, here, move))
            if _is_progress(move, here, there, position.banked):
                return False
            if there not in seen:
                seen.add(there)
                waiting.append(there)
        if len(seen) > MOST_POSITIONS:
            return None
    return True


def _is_progress(move: Move, here: Position, there: Position, banked: int) -> bool:
    if isinstance(move, Carry):
        leaves = move.source in (WASTE, RESERVE)
        fills = len(there.stock) + len(there.reserve) < len(here.stock) + len(here.reserve)
        turns_up = there.face_down != here.face_down
        return leaves or fills or turns_up or there.banked > banked
    return there.columns != here.columns


def _forgetting_passes(game: Game, position: Position) -> Position:
    return position._replace(passes=1) if game.stock.passes == UNLIMITED else position


@pytest.mark.parametrize("game", [*GAMES.values(), *VARIANTS], ids=lambda game: game.name)
def test_the_verdict_agrees_with_an_exhaustive_search_on_small_positions(game: Game) -> None:
    chance = Random(f"small positions of {game.name}")
    for _ in range(80):
        position = small_position(game, chance)
        assert really_stuck(game, position) in (is_stuck(game, position), None), position


@pytest.mark.parametrize("game", [*GAMES.values(), *VARIANTS], ids=lambda game: game.name)
def test_the_verdict_agrees_with_an_exhaustive_search_without_progress_in_sight(game: Game) -> None:
    chance = Random(f"hard positions of {game.name}")
    verdicts = {True: 0, False: 0, None: 0}
    while sum(verdicts.values()) < 50:
        position = small_position(game, chance)
        if not is_in_sight(Analysis(game, position)):
            truth = really_stuck(game, position)
            verdicts[truth] += 1
            assert truth in (is_stuck(game, position), None), position
    assert min(verdicts[True], verdicts[False]) >= 3


@pytest.mark.parametrize("game", [*GAMES.values(), *VARIANTS], ids=lambda game: game.name)
def test_the_verdict_and_its_work_are_the_same_whatever_lies_face_down(game: Game) -> None:
    chance = Random(f"face-down cards of {game.name}")
    for _ in range(80):
        position = small_position(game, chance)
        search, masked_search = (
            stuck_search(Analysis(game, each)) for each in (position, with_masked_columns(position))
        )
        if search is None or masked_search is None:
            assert search is masked_search
            continue
        verdict = search.advance(0)
        while verdict is None:
            assert masked_search.advance(0) is None
            masked_search.advance(1)
            verdict = search.advance(1)
        assert masked_search.advance(0) is verdict


def test_a_verdict_is_declared_only_when_every_stock_card_was_seen() -> None:
    assert not may_declare(draw(CANFIELD, "stock: 2C\nwaste: 3C"))
    assert may_declare(draw(CANFIELD, "waste: 3C"))
    assert may_declare(draw(CANFIELD, "stock: 2C\nwaste: 3C\npass: 2"))


MANY_SPACES = parse_position(
    "stock=- waste=- reserve=- up=7,8,13,3 down=10,13,10,13 columns=6D7D/-/TSJSQSKS/AH2H/JD"
    "/3C3H9S2C8DAC/-/9D/9CTD8CKCQCJCTC/-/-/4DKD5DQD base=1 passes=1"
)
"""A position of Caprice in which cards move between spaces many times before one fits."""


def test_a_search_in_slices_has_the_verdict_of_a_search_at_once() -> None:
    whole, sliced = (stuck_search(Analysis(CAPRICE, MANY_SPACES)) for _ in range(2))
    assert whole is not None
    assert sliced is not None
    verdict = whole.advance(100_000)
    slices = 0
    while sliced.advance(3) is None:
        slices += 1
    assert slices > 3
    assert sliced.advance(3) is verdict is not None
    assert whole.advance(0) is verdict


# The peeling search agrees with the search through arrangements


def test_the_games_that_can_be_peeled_have_runs_without_a_corner_and_kings_in_spaces() -> None:
    assert [name for name, game in GAMES.items() if can_peel(game)] == ["klondike", "lady-palk"]


def test_cards_that_come_back_are_counted_in_one_pack_with_foundations_built_up() -> None:
    assert not can_peel(replace(KLONDIKE, packs=2))
    assert not can_peel(replace(KLONDIKE, down=down_from(First.KING)))
    assert not can_peel(replace(KLONDIKE, columns=replace(KLONDIKE.columns, space=Space(ANYTHING))))


def late_positions(seed: int) -> list[Position]:
    """Return positions without progress in sight, from a badly played game of Lady Palk."""
    chance = Random(seed)
    position = deal_for_key(LADY_PALK, bytes([seed]))
    found: list[Position] = []
    for _ in range(220):
        moves = legal_moves(LADY_PALK, position)
        if not moves:
            break
        chosen = DRAW if DRAW in moves and chance.random() < 0.4 else chance.choice(moves)
        position = play(LADY_PALK, position, chosen)
        if not position.stock and not is_in_sight(Analysis(LADY_PALK, position)):
            found.append(position)
    return found[::10]


@pytest.mark.parametrize("seed", range(12))
def test_both_searches_agree_if_the_long_one_ends(seed: int) -> None:
    for position in late_positions(seed):
        ahead = prospects(LADY_PALK, position)
        verdict = PeelingSearch(LADY_PALK, position, ahead).advance(1000)
        assert verdict is not None
        assert ArrangementSearch(LADY_PALK, position, ahead).advance(300) in (verdict, None)


def test_both_searches_agree_where_cards_come_back_from_foundations() -> None:
    chance = Random("cards that come back")
    verdicts = {True: 0, False: 0}
    while sum(verdicts.values()) < 200:
        position = small_position(KLONDIKE, chance)
        if is_in_sight(Analysis(KLONDIKE, position)):
            continue
        ahead = prospects(KLONDIKE, position)
        verdict = PeelingSearch(KLONDIKE, position, ahead).advance(1000)
        assert verdict is not None
        verdicts[verdict] += 1
        assert ArrangementSearch(KLONDIKE, position, ahead).advance(1000) in (verdict, None)
    assert min(verdicts.values()) > 20


def search(picture: str, game: Game = LADY_PALK) -> PeelingSearch:
    position = draw(game, picture)
    assert not is_in_sight(Analysis(game, position))
    return PeelingSearch(game, position, prospects(game, position))


def stages(searching: PeelingSearch) -> tuple[bool, int]:
    """Return the verdict and the number of stages that were searched."""
    searched = 0
    while (verdict := searching.advance(1)) is None:
        searched += 1
    return verdict, searched + 1


def test_cards_of_one_kind_that_swap_what_lies_on_them_are_one_stage() -> None:
    # the 8S may lie on either nine
    assert stages(search("t1: 9H 8S\nt2: 9D\nt3: JC\nt4: JS", KLONDIKE)) == (True, 1)


def test_a_card_comes_back_only_where_it_may_help() -> None:
    # the 7H may lie on the 8S, but no six is there to lie on it
    assert stages(search("t1: 8S\nt2: TS\nup: H7 S2", KLONDIKE)) == (True, 1)
    # the 6C that lies on the 9D could, and the 9D on the TS, but that is no progress
    assert stages(search("t1: 8S\nt2: TS\nt3: JH 9D 6C\nup: H7 S2", KLONDIKE))[0] is True
    # a face-down card under the 9D is
    assert search("t1: 8S\nt2: TS\nt3: JH | 9D 6C\nup: H7 S2", KLONDIKE).advance(9) is False


# Arrangements


def search_arrangements(game: Game, picture: str) -> ArrangementSearch:
    position = draw(game, picture)
    assert not is_in_sight(Analysis(game, position))
    return ArrangementSearch(game, position, prospects(game, position))


def test_an_arrangement_without_neighbours_is_the_end() -> None:
    assert search_arrangements(LAFAYETTE, "t1: 9H\nt2: 9D\nt3: 9H\nt4: 9D").advance(1) is True


def test_columns_that_only_change_places_are_one_arrangement() -> None:
    # the 8C goes to and fro between two nines: that is one other arrangement, not many
    assert search_arrangements(LAFAYETTE, "t1: 9H 8C\nt2: 9D\nt3: 2C\nt4: 2S").advance(2) is True


def test_a_card_put_into_any_of_many_spaces_is_one_arrangement() -> None:
    assert search_arrangements(CAPRICE, "t1: 5C 9H\nt2: 3D").advance(2) is True


def test_columns_that_look_alike_differ_if_one_has_face_down_cards() -> None:
    # the 8S may lie on three nines
    assert (
        search_arrangements(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 9H\nt3: 9D\nt4: 2C").advance(2) is None
    )
    assert (
        search_arrangements(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 9H\nt3: 9D\nt4: 2C").advance(3) is True
    )
    assert (
        search_arrangements(LAFAYETTE, "t1: 2D | 9H 8S\nt2: 2H | 9H\nt3: 9D\nt4: 2C").advance(2)
        is True
    )
