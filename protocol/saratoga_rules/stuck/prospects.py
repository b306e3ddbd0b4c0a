"""The cards that waste and reserve can offer, and the columns that would let them be played."""

from typing import NamedTuple

from saratoga_rules.analysis import Analysis
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import wanted_cards, wanted_down


class Prospects(NamedTuple):
    """The changes of columns that count as progress; neutral moves do not affect them."""

    waiting: frozenset[Card]
    """The reserve's top card, and all that draws and redeals alone bring to the waste's top."""
    hopes: frozenset[Card]
    """The cards that, on top of a column, would take a waiting card or go to a foundation. If
    foundations give back, those built up are left out, since neutral moves change them."""
    space_helps: bool
    """True if a space would be filled automatically or take one of the waiting cards."""


def prospects(game: Game, position: Position) -> Prospects:
    build, admits = game.columns.build, game.columns.space.admits
    batches = waiting_cards(game, position)
    waiting = frozenset(card for _, cards in batches for card in cards)
    if game.up.gives_back:
        wanted = frozenset(wanted_down(position.down))
    else:
        wanted = wanted_cards(position.up, position.base, position.down)
    return Prospects(
        waiting=waiting,
        hopes=wanted.union(*(build.under[card] for card in waiting)),
        space_helps=fills_spaces(game, position)
        or any(admits(source, card) for source, cards in batches for card in cards),
    )


def waiting_cards(game: Game, position: Position) -> list[tuple[Pile, tuple[Card, ...]]]:
    """Return the cards that reserve and waste can offer without a progress move, in groups by pile.

    These are the tops of the waste in a whole pass, if a redeal is left; the tops of the waste in
    the rest of this pass; and the present tops of waste and reserve. As long as nothing is played,
    every later pass turns up the same cards. So does this pass, unless cards played in it have
    shifted the packets.
    """
    stock, waste, reserve, _, _, _, _, passes, _ = position
    rule, draw = game.stock, game.stock.draw
    waiting: list[tuple[Pile, tuple[Card, ...]]] = []
    if passes < rule.passes:
        turned_over = waste + stock
        waiting.append((Pile.WASTE, turned_over[draw - 1 :: draw] + turned_over[-1:]))
    if not waiting or len(waste) % draw:
        if waste:
            waiting.append((Pile.WASTE, waste[-1:]))
        if stock and rule.onto is Pile.WASTE:
            waiting.append((Pile.WASTE, stock[draw - 1 :: draw] + stock[-1:]))
    if reserve:
        waiting.append((Pile.RESERVE, reserve[-1:]))
    return waiting


def is_in_sight(analysis: Analysis) -> bool:
    """Return whether a progress move is one carry away, after any number of draws and redeals."""
    game, position = analysis.game, analysis.position
    stock, waste, reserve, _, _, columns, _, _, _ = position
    if stock and game.stock.onto is Pile.COLUMN:
        return True
    wanted = analysis.wanted
    for column in columns:
        if column and column[-1] in wanted:
            return True
    takers, spaces = analysis.targets
    # the two tops are waiting cards too; they come first, because one is often enough
    if waste and (waste[-1] in takers or waste[-1] in wanted):
        return True
    if reserve and (reserve[-1] in takers or reserve[-1] in wanted):
        return True
    admits = game.columns.space.admits
    for source, cards in waiting_cards(game, position):
        if not (takers.keys().isdisjoint(cards) and wanted.isdisjoint(cards)):
            return True
        if spaces and any(admits(source, card) for card in cards):
            return True
    return _empties_a_column(analysis)


def _empties_a_column(analysis: Analysis) -> bool:
    """Return whether a carry turns a face-down card up, or makes a space that is filled."""
    columns, face_down = analysis.position.columns, analysis.position.face_down
    is_filled = fills_spaces(analysis.game, analysis.position)
    if is_filled or face_down:
        for index, column in enumerate(columns):
            if (is_filled or face_down[index]) and column and analysis.moves_whole(index):
                return True
    return False


def fills_spaces(game: Game, position: Position) -> bool:
    """Return whether a space would be filled automatically."""
    filled_from = game.columns.space.filled_from
    if filled_from is Pile.RESERVE:
        return bool(position.reserve)
    return filled_from is Pile.STOCK and bool(position.stock)
