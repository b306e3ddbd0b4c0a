"""A position as lines, one for each pile, always in the same order. Pure.

A line lists cards from the bottom to the top of the pile, after their number if some are omitted.
For an empty pile the line says `empty`.
"""

from collections.abc import Iterator
from typing import Final

from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.rules_text import column_rules
from saratoga_client.wording import counted, dollars
from saratoga_rules.cards import SUITS
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.piles import Pile
from saratoga_rules.position import View
from saratoga_rules.vocabulary.deal_steps import ToReserve
from saratoga_rules.vocabulary.foundations import First, rank_at
from saratoga_rules.vocabulary.stocks import UNLIMITED

WASTE_SHOWN: Final = 3
"""Number of waste cards that are listed; the last one is the top card, which can be played."""


def position_lines(game: Game, view: View, card_names: CardNames = LETTERS) -> Iterator[str]:
    """Return a line for every pile."""
    yield stock_line(game, view)
    if game.stock.onto is Pile.WASTE:
        yield waste_line(view, card_names)
    if has_reserve(game):
        yield reserve_line(view, card_names)
    yield up_line(game, view, card_names)
    if game.down is not None:
        yield down_line(view, card_names)
    for index in range(len(view.columns)):
        yield column_line(view, index, card_names)


def rule_line(game: Game, view: View) -> str:
    """Return the line on how columns build and what fills a space now."""
    return f"rule: {' '.join(column_rules(game, view))}"


def money_words(game: Game, view: View) -> str:
    """Return the cards banked and the net: `14 banked, +$20`."""
    return f"{view.banked} banked, {dollars(net(game, view.banked))}"


def stock_line(game: Game, view: View) -> str:
    """Return the line of the stock."""
    return f"stock: {stock_words(game, view)}"


def stock_words(game: Game, view: View) -> str:
    """Return the number of cards in the stock and, if the game has redeals, the pass."""
    left = f"{len(view.stock) or 'empty'}"
    if game.stock.passes == 1:
        return left
    if game.stock.passes == UNLIMITED:
        return f"{left}, pass {view.passes}"
    return f"{left}, pass {view.passes} of {game.stock.passes}"


def waste_line(view: View, card_names: CardNames = LETTERS) -> str:
    """Return the line of the waste: its count and its top cards; the last one can be played."""
    if not view.waste:
        return "waste: empty"
    return f"waste: {len(view.waste)}, {card_names.cards(view.waste[-WASTE_SHOWN:])}"


def reserve_line(view: View, card_names: CardNames = LETTERS) -> str:
    """Return the line of the reserve: its count and its top card."""
    if not view.reserve:
        return "reserve: empty"
    return f"reserve: {len(view.reserve)}, {card_names.card(view.reserve[-1])}"


def up_line(game: Game, view: View, card_names: CardNames = LETTERS) -> str:
    """Return the line of the foundations built up: the count and top card of each."""
    copies = len(view.up) // len(SUITS)
    piles = [
        _foundation(SUITS[index // copies], height, rank_at(view.base, height), card_names)
        for index, height in enumerate(view.up)
    ]
    base = f", base {card_names.rank(view.base)}" if game.up.first is First.BASE_CARD else ""
    return f"up: {', '.join(piles) if any(view.up) else 'empty'}{base}"


def down_line(view: View, card_names: CardNames = LETTERS) -> str:
    """Return the line of the foundations built down: the count and top card of each."""
    copies = len(view.down) // len(SUITS)
    piles = [
        _foundation(SUITS[index // copies], height, 14 - height, card_names)
        for index, height in enumerate(view.down)
    ]
    return f"down: {', '.join(piles) if any(view.down) else 'empty'}"


def column_line(view: View, index: int, card_names: CardNames = LETTERS) -> str:
    """Return the line of one column: the number of its face-down cards, and all others."""
    below = view.face_down_counts[index] if view.face_down else 0
    cards = card_names.cards(view.columns[index]) or "empty"
    return f"column {index + 1}: {f'{below} face down, then ' if below else ''}{cards}"


def board_line(game: Game, view: View, count: int | None) -> str:
    """Return the heading above the piles; `count` is the number of moves made, `None` to omit it."""
    moves = "" if count is None else f"{counted(count, 'move')}, "
    return f"board: {game.name}, {moves}{money_words(game, view)}"


def _foundation(letter: str, height: int, top: int, card_names: CardNames) -> str:
    if not height:
        return f"{card_names.suit(letter)} empty"
    return f"{card_names.suit(letter)} {height} to {card_names.rank(top)}"


def has_reserve(game: Game) -> bool:
    """Return whether the deal of this game has a reserve."""
    return any(isinstance(step, ToReserve) for step in game.deal)
