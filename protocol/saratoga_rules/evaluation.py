"""The evaluation of positions by the strong bot and by par: banked cards, and the prospects of banking more.

The weights of each game were found by playing many deals (tests/benchmarks/bots_bench.py).
"""

from binascii import crc32
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from saratoga_rules.cards import HIDDEN, SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import rank_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weight of each feature; a banked card has weight 10."""

    reserve: float = 0.0
    """Weight of each card in the reserve."""
    hand: float = 0.0
    """Weight of each card in the stock and the waste."""
    waste: float = 0.0
    """Additional weight of each card on the waste."""
    face_down: float = 0.0
    """Weight of each face-down card in a column."""
    space: float = 0.0
    """Weight of each empty column."""
    joined: float = 0.0
    """Weight of each card that lies on a card that it could be built on."""
    blocker: float = 0.0
    """Weight of each card in a column above a card that can be banked earlier."""
    buried: float = 0.0
    """Weight of each card on the waste above a card that can be banked earlier."""
    fitting: float = 0.0
    """Weight of each card that could be built on a column if it were available."""
    unseen: float = 0.0
    """Weight of each hidden card that is turned up."""
    looks: int = 100
    """Number of positions searched before a plan is chosen."""
    last_looks: int = 600
    """Number of positions searched before the bot cashes out."""


WEIGHTS: Final[Mapping[str, Weights]] = {
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

_DEFAULT: Final = Weights(
    reserve=-5, hand=-1, face_down=-5, space=2, joined=1, buried=-1, unseen=1, looks=300
)
"""Default weights, for games without tuned weights."""

_LADY_PALK: Final = Weights(hand=-8, space=4, joined=4, blocker=-1, buried=-1)

_WEIGHTS_OF_PAR: Final[Mapping[str, tuple[Weights, ...]]] = {
    "lady-palk": (
        _LADY_PALK,
        replace(_LADY_PALK, joined=2.5, blocker=-2),
        replace(_LADY_PALK, hand=-12, buried=-3),
        replace(_LADY_PALK, hand=-5, joined=5, space=6),
    ),
}
"""The weights of par in games for which one search by the weights of the bots finds less."""

BANKED: Final = 10.0
LARGEST_VARIATION: Final = 0.3
"""Largest fraction by which a bot's variation changes a weight."""

_SHIFTED: Final = ("reserve", "hand", "face_down", "space", "joined", "blocker", "unseen")
_FAR: Final = 99
_NO_CARDS: Final[frozenset[Card]] = frozenset()


def weights_of(game: Game, variation: int) -> Weights:
    """Return the weights of a bot; a variation other than 0 changes them a little."""
    weights = WEIGHTS.get(game.name, _DEFAULT)
    return _shifted(weights, variation) if variation else weights


def par_weights(game: Game) -> tuple[Weights, ...]:
    """Return the weights of the searches that know every card, the best first."""
    return _WEIGHTS_OF_PAR.get(game.name) or (weights_of(game, variation=0),)


def evaluator(game: Game, weights: Weights) -> Callable[[Position], float]:
    """Return the function that evaluates positions of this game."""
    onto = game.columns.build.onto

    def evaluate(position: Position) -> float:
        value = BANKED * position.banked
        value += weights.reserve * len(position.reserve)
        value += weights.hand * (len(position.stock) + len(position.waste))
        value += weights.waste * len(position.waste)
        value += weights.face_down * sum(map(len, position.face_down))
        distances = _distances(position.up, position.down, position.base)
        for column in position.columns:
            if not column:
                value += weights.space
                continue
            if column[-1] is HIDDEN:
                value += weights.unseen
            for lower, card in pairwise(column):
                if card in onto[lower]:
                    value += weights.joined
            value += weights.blocker * _blockers(column, distances)
        if weights.buried and position.waste:
            value += weights.buried * _blockers(position.waste, distances)
        if weights.fitting:
            tops = (onto[column[-1]] for column in position.columns if column)
            value += weights.fitting * len(_NO_CARDS.union(*tops))
        if position.reserve and position.reserve[-1] is HIDDEN:
            value += weights.unseen
        return value

    return evaluate


@lru_cache(maxsize=64)
def _shifted(weights: Weights, variation: int) -> Weights:
    shifted: dict[str, float] = {}
    for feature in _SHIFTED:
        chance = crc32(f"{variation} {feature}".encode()) % 201 - 100
        shifted[feature] = getattr(weights, feature) * (1 + LARGEST_VARIATION * chance / 100)
    return replace(weights, **shifted)  # type: ignore[arg-type]


def _blockers(pile: tuple[Card, ...], distances: Mapping[Card, int]) -> int:
    """Return the number of cards that lie above a card that can be banked earlier."""
    count = 0
    earliest = _FAR
    for card in pile:
        wait = distances.get(card, _FAR)
        if wait > earliest:
            count += 1
        else:
            earliest = wait
    return count


@lru_cache(maxsize=1 << 14)
def _distances(up: tuple[int, ...], down: tuple[int, ...], base: int) -> Mapping[Card, int]:
    """Return by card the minimum number of cards that must be banked before it."""
    distances: dict[Card, int] = {}
    for heights, is_up in ((up, True), (down, False)):
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            for at in range(height, 13):
                rank = rank_at(base, at + 1) if is_up else 13 - at
                card = card_of(rank, SUITS[index // copies])
                distances[card] = min(at - height, distances.get(card, _FAR))
    return distances
