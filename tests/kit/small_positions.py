"""Random positions of a few cards, for tests with exhaustive searches.

Most of them never occur in real games, and packs are incomplete. They mix foundations, columns with
runs, spaces, reserve, waste and stock in all ways.
"""

from random import Random

from saratoga_rules.cards import PACK, SUITS, Card
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position, in_order
from saratoga_rules.vocabulary.deal_steps import Triangle
from saratoga_rules.vocabulary.foundations import rank_at


def small_position(game: Game, chance: Random) -> Position:
    """Return a position small enough for an exhaustive search."""
    base = chance.randint(1, 13) if game.columns.build.around_the_corner else 1
    up = in_order(tuple(chance.choice((0, 1, 1, 2, 3, 5, 9)) for _ in range(game.up.piles)))
    down = tuple(chance.choice((0, 1, 2, 3)) for _ in range(game.down.piles if game.down else 0))
    cards = _not_banked(game, base, up, down)
    chance.shuffle(cards)
    most = max(2, 14 // game.columns.count)
    columns = tuple(_column(game, cards, chance, most) for _ in range(game.columns.count))
    face_down: tuple[tuple[Card, ...], ...] = ()
    if any(isinstance(step, Triangle) for step in game.deal):
        face_down = tuple(_off(cards, chance.choice((0, 0, 1, 2)) if c else 0) for c in columns)
    fills = game.columns.space.filled_from
    has_spaces = not all(columns)
    has_waste = game.stock.onto is Pile.WASTE
    # if spaces are filled automatically, there is a space only when nothing is left to fill it
    may_have_reserve = fills is not Pile.RESERVE or not has_spaces
    return Position(
        stock=_off(cards, chance.choice((0, 0, 1, 2, 4, 7))) if has_waste else (),
        waste=_off(cards, chance.choice((0, 1, 1, 2, 5))) if has_waste else (),
        reserve=_off(cards, chance.choice((0, 1, 3))) if may_have_reserve else (),
        up=up,
        down=down,
        columns=columns,
        base=base,
        passes=chance.randint(1, min(game.stock.passes, 4)),
        face_down=face_down if any(face_down) else (),
    )


def _not_banked(game: Game, base: int, up: tuple[int, ...], down: tuple[int, ...]) -> list[Card]:
    cards = list(PACK * game.packs)
    for heights, first in ((up, base), (down, 14)):
        for index, height in enumerate(heights):
            letter = SUITS[index * len(SUITS) // len(heights)]
            for level in range(1, height + 1):
                number = rank_at(base, level) if heights is up else first - level
                card = next(
                    (c for c in cards if c == PACK[13 * SUITS.index(letter) + number - 1]), None
                )
                if card is not None:
                    cards.remove(card)
    return cards


def _column(game: Game, cards: list[Card], chance: Random, most: int) -> tuple[Card, ...]:
    column: list[Card] = []
    for _ in range(min(len(cards), chance.randint(0, most))):
        fitting = [card for card in cards if column and game.columns.build(column[-1], card)]
        card = chance.choice(fitting if fitting and chance.random() < 0.5 else cards)
        cards.remove(card)
        column.append(card)
    return tuple(column)


def _off(cards: list[Card], count: int) -> tuple[Card, ...]:
    taken = tuple(cards[:count])
    del cards[:count]
    return taken
