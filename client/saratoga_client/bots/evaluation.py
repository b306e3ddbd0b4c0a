"""What a position is worth to the strong bot, in banked cards and hopes of more.

The weights of each game were found by playing many deals (tests/benchmarks/bots_bench.py).
"""

from binascii import crc32
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from saratoga_rules.cards import HIDDEN, SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import rank_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each feature counts; a banked card counts 10."""

    reserve: float = 0.0
    """For every card in the reserve."""
    hand: float = 0.0
    """For every card in the stock and the waste."""
    waste: float = 0.0
    """For every card on the waste, beyond that."""
    space: float = 0.0
    joined: float = 0.0
    """For every card that lies where it could have been built."""
    blocker: float = 0.0
    """For every card in a column on one that is wanted earlier."""
    buried: float = 0.0
    """For every card on the waste on one that is wanted earlier."""
    fitting: float = 0.0
    """For every card that would fit on a column, were it at hand."""
    unseen: float = 0.0
    """For a card that the move turns up: it is worth seeing."""
    looks: int = 100
    """Positions looked at before a line is chosen."""
    last_looks: int = 600
    """Positions looked at before the bot stops."""


WEIGHTS: Final[Mapping[str, Weights]] = MappingProxyType(
    {
        "canfield": Weights(
            reserve=-10, hand=1.6, space=1, joined=1.3, blocker=-2, unseen=3.5, looks=300
        ),
        "canfield-aisleriot": Weights(
            reserve=-10,
            hand=-1.3,
            waste=-0.6,
            joined=0.4,
            blocker=-0.7,
            fitting=0.5,
            unseen=1,
            looks=300,
        ),
        "lafayette": Weights(reserve=-8, hand=1, space=3, joined=1, blocker=-1, unseen=1),
        "lady-palk": Weights(hand=-4, space=4, joined=2, blocker=-1, buried=-1, unseen=1, looks=50),
        "caprice": Weights(hand=-2, space=4, joined=3, blocker=-1, unseen=1),
    }
)

_OTHERWISE: Final = Weights(reserve=-5, hand=-1, space=2, joined=1, blocker=-1, unseen=1)
"""For a game that nobody has tuned yet."""

BANKED: Final = 10.0
MOST_SHIFT: Final = 0.3
"""By how much of itself a bot's temper may shift a weight."""

_SHIFTED: Final = ("reserve", "hand", "space", "joined", "blocker", "unseen")
_FAR: Final = 99
_NO_CARDS: Final[frozenset[Card]] = frozenset()


def weights_of(game: Game, temper: int) -> Weights:
    """The weights of a bot; tempers but 0 shift them a little, so that no two bots play alike."""
    weights = WEIGHTS.get(game.name, _OTHERWISE)
    return _shifted(weights, temper) if temper else weights


def worth_in(game: Game, weights: Weights) -> Callable[[Position], float]:
    """The worth of positions of this game, with what is known filled in."""
    onto = game.columns.build.onto

    def worth(position: Position) -> float:
        value = BANKED * position.banked
        value += weights.reserve * len(position.reserve)
        value += weights.hand * (len(position.stock) + len(position.waste))
        value += weights.waste * len(position.waste)
        waits = _waits(position.up, position.down, position.base)
        for column in position.columns:
            if not column:
                value += weights.space
                continue
            if column[-1] is HIDDEN:
                value += weights.unseen
            for lower, card in pairwise(column):
                if card in onto[lower]:
                    value += weights.joined
            value += weights.blocker * _blockers(column, waits)
        if weights.buried and position.waste:
            value += weights.buried * _blockers(position.waste, waits)
        if weights.fitting:
            tops = (onto[column[-1]] for column in position.columns if column)
            value += weights.fitting * len(_NO_CARDS.union(*tops))
        if position.reserve and position.reserve[-1] is HIDDEN:
            value += weights.unseen
        return value

    return worth


@lru_cache(maxsize=64)
def _shifted(weights: Weights, temper: int) -> Weights:
    shifted = {
        feature: weight
        * (1 + MOST_SHIFT * (crc32(f"{temper} {feature}".encode()) % 201 - 100) / 100)
        for feature, weight in ((name, getattr(weights, name)) for name in _SHIFTED)
    }
    return replace(weights, **shifted)


def _blockers(pile: tuple[Card, ...], waits: Mapping[Card, int]) -> int:
    """How many cards of the pile lie on one that is wanted earlier."""
    count = 0
    earliest = _FAR
    for card in pile:
        wait = waits.get(card, _FAR)
        if wait > earliest:
            count += 1
        else:
            earliest = wait
    return count


@lru_cache(maxsize=1 << 14)
def _waits(up: tuple[int, ...], down: tuple[int, ...], base: int) -> Mapping[Card, int]:
    """After how many cards on its foundation each card is wanted, at the earliest."""
    waits: dict[Card, int] = {}
    for heights, rank_of in ((up, partial(rank_at, base)), (down, _rank_down)):
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            for at in range(height, 13):
                card = card_of(rank_of(at + 1), SUITS[index // copies])
                waits[card] = min(at - height, waits.get(card, _FAR))
    return waits


def _rank_down(height: int) -> int:
    return 14 - height
