"""`is_stuck` agrees with an exhaustive search by real draws and redeals."""

from random import Random

import pytest

from kit.masked_cards import with_masked_columns
from kit.positions import draw
from kit.small_positions import small_position
from saratoga_rules.game import Game, foundations_hold
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.judge import is_won, legal_moves, play
from saratoga_rules.moves import RESERVE, WASTE, Carry, Move
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position, parse_position
from saratoga_rules.stuck.prospects import is_in_sight
from saratoga_rules.stuck.stuck import StuckSearch, is_stuck, may_declare
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import DealStep, ToColumns, Triangle
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.packets import ANY_RUN, TOP_CARD_OR_WHOLE_PILE
from saratoga_rules.vocabulary.spaces import ANYTHING, KINGS, Space
from saratoga_rules.vocabulary.stocks import UNLIMITED, turned
from saratoga_rules.vocabulary.tableau import Columns


def variant(
    name: str,
    packs: int,
    columns: Columns,
    *,
    gives_back: bool = False,
    deals: DealStep = ToColumns(1),  # noqa: B008 - a frozen value
) -> Game:
    """Return an invented game with other rules from the vocabulary of rules."""
    return Game(
        name=name,
        title=name,
        packs=packs,
        pack_price=50,
        deal=(deals,),
        columns=columns,
        up=up_from(First.ACE, gives_back=gives_back),
        stock=turned(2, passes=2),
        goal=foundations_hold(52 * packs),
    )


VARIANTS = [
    variant(
        "runs in suit, kings into spaces",
        1,
        Columns(count=4, build=down(Pairing.SAME_SUIT), packet=ANY_RUN, space=Space(admits=KINGS)),
    ),
    variant(
        "runs in colours, the reserve fills, then kings",
        1,
        Columns(
            count=4,
            build=down(Pairing.ALTERNATE_COLOUR),
            packet=ANY_RUN,
            space=Space(filled_from=Pile.RESERVE, admits=KINGS),
        ),
    ),
    variant(
        "runs in any suit, anything into spaces",
        1,
        Columns(
            count=4, build=down(Pairing.ANY_SUIT), packet=ANY_RUN, space=Space(admits=ANYTHING)
        ),
    ),
    variant(
        "top card or pile, foundations give back",
        1,
        Columns(
            count=3,
            build=down(Pairing.ALTERNATE_COLOUR),
            packet=TOP_CARD_OR_WHOLE_PILE,
            space=Space(filled_from=Pile.RESERVE, admits=ANYTHING),
        ),
        gives_back=True,
    ),
    variant(
        "runs in colours, kings into spaces, face-down cards",
        1,
        Columns(
            count=4,
            build=down(Pairing.ALTERNATE_COLOUR),
            packet=ANY_RUN,
            space=Space(admits=KINGS),
        ),
        deals=Triangle(),
    ),
    variant(
        "any run, the reserve fills, foundations give back, face-down cards",
        1,
        Columns(
            count=4,
            build=down(Pairing.ALTERNATE_COLOUR),
            packet=ANY_RUN,
            space=Space(filled_from=Pile.RESERVE, admits=ANYTHING),
        ),
        gives_back=True,
        deals=Triangle(),
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
        if not is_in_sight(game, position):
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
            StuckSearch(game, each) for each in (position, with_masked_columns(position))
        )
        verdict = search.advance(0)
        while verdict is None:
            assert masked_search.advance(0) is None
            masked_search.advance(1)
            verdict = search.advance(1)
        assert masked_search.advance(0) is verdict


def test_the_rest_of_this_pass_shows_other_cards_than_the_next_pass() -> None:
    # the pass goes on with 4C 5C 6C, then 7C: so 6C and 7C come up. A whole pass would show
    # 2C 3C 4C, 5C 6C 7C: the 4C and the 7C. Only 6C and 4C fit.
    rest = "t1: 7H\nt2: TS\nt3: TC\nt4: TS\nbase: 9\nwaste: 2C 3C\nstock: 4C 5C 6C 7C"
    assert is_stuck(CANFIELD, draw(CANFIELD, rest)) is False
    next_pass = rest.replace("7H", "5H")
    assert is_stuck(CANFIELD, draw(CANFIELD, next_pass)) is False
    # the 3C is the waste's top only now, the 2C and the 5C never
    assert is_stuck(CANFIELD, draw(CANFIELD, rest.replace("7H", "4H"))) is False
    assert is_stuck(CANFIELD, draw(CANFIELD, rest.replace("7H", "3H"))) is True
    assert is_stuck(CANFIELD, draw(CANFIELD, rest.replace("7H", "6H"))) is True


def test_the_next_pass_counts_only_while_a_redeal_is_left() -> None:
    picture = "t1: 5H\nt2: TS\nt3: TC\nt4: TS\nbase: 9\nwaste: 2C 3C\nstock: 4C 5C 6C 7C\npass: "
    assert is_stuck(CANFIELD_AISLERIOT, draw(CANFIELD_AISLERIOT, picture + "2")) is False
    assert is_stuck(CANFIELD_AISLERIOT, draw(CANFIELD_AISLERIOT, picture + "3")) is True


def test_with_draw_one_and_redeals_every_card_of_stock_and_waste_comes() -> None:
    picture = "t1: 9H\nt2: 9D\nt3: 9H\nt4: {}\nwaste: 2C 5C\nstock: 6C 7C"
    for top, stuck in [("3H", False), ("6H", False), ("7H", False), ("8H", False), ("4H", True)]:
        assert is_stuck(LAFAYETTE, draw(LAFAYETTE, picture.format(top))) is stuck


def test_without_redeal_what_lies_in_the_waste_stays_there() -> None:
    picture = (
        "t1: KC\nt2: KC\nt3: KC\nt4: KC\nt5: KS\nt6: KS\nt7: KS\nt8: {}\nwaste: 2C 5C\nstock: 7C 9C"
    )
    for top, stuck in [("3H", True), ("6H", False), ("8H", False), ("TH", False), ("4H", True)]:
        assert is_stuck(LADY_PALK, draw(LADY_PALK, picture.format(top))) is stuck


def test_a_pile_that_moves_and_draws_a_card_from_the_reserve_is_progress() -> None:
    merging = "t1: 9H\nt2: TC\nt3: 2C\nt4: 2S\nbase: 5\n"
    assert is_stuck(CANFIELD, draw(CANFIELD, merging + "reserve: KD")) is False
    assert is_stuck(CANFIELD, draw(CANFIELD, merging)) is True


def test_a_space_that_the_waste_may_fill_is_progress() -> None:
    merging = "t1: 9H\nt2: TC\nt3: 2C\nt4: 2S\nbase: 5\n"
    assert is_stuck(CANFIELD, draw(CANFIELD, merging + "waste: KD")) is False


def test_moving_one_card_between_two_columns_is_not_progress() -> None:
    full = "".join(f"t{number}: KC QC\n" for number in range(4, 9))
    position = draw(LADY_PALK, full + "t1: AC 7H\nt2: 8S\nt3: 8D\nwaste: KD")
    assert {str(move) for move in legal_moves(LADY_PALK, position)} == {"t1>t2", "t1>t3"}
    assert is_stuck(LADY_PALK, position) is False  # it uncovers the ace
    covered = draw(LADY_PALK, full + "t1: 3C\nt2: 8S 7H\nt3: 8D\nwaste: KD")
    assert {str(move) for move in legal_moves(LADY_PALK, covered)} == {"t2>t3"}
    assert is_stuck(LADY_PALK, covered) is True


def test_a_card_that_comes_back_can_take_another() -> None:
    picture = "t1: 8H\nt2: TS\nt3: TC\nt4: TS\nup: S7\nbase: A\npass: 3\nwaste: {}"
    # the 7S comes back onto the 8H and takes the 6D
    assert is_stuck(CANFIELD_AISLERIOT, draw(CANFIELD_AISLERIOT, picture.format("6D"))) is False
    assert is_stuck(CANFIELD_AISLERIOT, draw(CANFIELD_AISLERIOT, picture.format("4D"))) is True


def test_coming_back_and_going_up_again_is_no_progress() -> None:
    picture = "t1: 8H\nt2: 2S\nt3: 2C\nt4: 2S\nup: S7\nbase: A\npass: 3"
    assert is_stuck(CANFIELD_AISLERIOT, draw(CANFIELD_AISLERIOT, picture)) is True


def test_a_board_with_cards_to_deal_over_the_columns_is_never_stuck() -> None:
    assert is_stuck(CAPRICE, draw(CAPRICE, "t1: 5C\nt2: 9H\nstock: KC")) is False


def test_a_won_board_is_not_stuck() -> None:
    won = {"canfield": "up: C13 S13 H13 D13", "lady-palk": "up: C13,13 S13,13 H13,13 D13,13"}
    for name, picture in won.items():
        assert is_stuck(GAMES[name], draw(GAMES[name], picture)) is False


def test_drawing_and_redealing_alone_are_not_progress() -> None:
    picture = "t1: 9H\nt2: 9D\nt3: 9H\nt4: 9D\nstock: 2C 2S 3C\nwaste: 4C"
    position = draw(LAFAYETTE, picture)
    assert [str(move) for move in legal_moves(LAFAYETTE, position)] == ["draw"]
    assert is_stuck(LAFAYETTE, position) is True


def test_a_verdict_is_declared_only_when_every_stock_card_was_seen() -> None:
    assert not may_declare(draw(CANFIELD, "stock: 2C\nwaste: 3C"))
    assert may_declare(draw(CANFIELD, "waste: 3C"))
    assert may_declare(draw(CANFIELD, "stock: 2C\nwaste: 3C\npass: 2"))


MANY_SPACES = parse_position(
    "stock=- waste=- reserve=- up=7,8,13,3 down=10,13,10,13 columns=6D7D/-/TSJSQSKS/AH2H/JD"
    "/3C3H9S2C8DAC/-/9D/9CTD8CKCQCJCTC/-/-/4DKD5DQD base=1 passes=1"
)
"""A position of Caprice in which cards move between spaces many times before one fits."""


def test_a_search_that_reaches_its_limit_has_no_verdict() -> None:
    assert is_stuck(CAPRICE, MANY_SPACES, limit=0) is None
    assert is_stuck(CAPRICE, MANY_SPACES, limit=1) is None


def test_a_search_in_slices_has_the_verdict_of_a_search_at_once() -> None:
    whole = StuckSearch(CAPRICE, MANY_SPACES)
    verdict = whole.advance(100_000)
    sliced = StuckSearch(CAPRICE, MANY_SPACES)
    slices = 0
    while sliced.advance(3) is None:
        slices += 1
    assert slices > 3
    assert sliced.advance(3) is verdict is not None
    assert whole.advance(0) is verdict
