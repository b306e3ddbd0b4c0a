"""The search for cards: their places, as far as the player can know them."""

from collections.abc import Iterator
from dataclasses import dataclass

from saratoga_client.input.card_query import cards_matching
from saratoga_client.input.move_text import LINE, CardName, card_name, pile_name
from saratoga_rules.cards import HIDDEN, SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, DOWN, RESERVE, UP, WASTE
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import rank_at


@dataclass(frozen=True, slots=True)
class Found:
    """The place of a visible card, or of a card that must be banked."""

    card: Card
    pile: str
    """The pile's name in moves; `up` or `down` for a foundation."""
    above: int
    """The number of cards above the card in its pile."""
    covered_by: Card | None = None
    """The next card above the card; `None` for the top card."""


def known_places(view: View) -> Iterator[Found]:
    """Yield every card whose place the player can know, pile by pile from the bottom."""
    piles = [(RESERVE, view.reserve), (WASTE, view.waste)]
    piles += zip(COLUMN_NAMES, view.columns, strict=False)
    for name, pile in piles:
        for index, card in enumerate(pile):
            if card != HIDDEN:
                covered_by = pile[index + 1] if index + 1 < len(pile) else None
                yield Found(card, name, len(pile) - 1 - index, covered_by)
    for direction, heights in ((UP, view.up), (DOWN, view.down)):
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            for level in range(1, height + 1):
                rank = rank_at(view.base, level) if direction == UP else 14 - level
                yield Found(card_of(rank, SUITS[index // copies]), direction, height - level)


def banked_words(game: Game, direction: str) -> str:
    """Return `banked`, followed by the direction if the game has two kinds of foundations."""
    return "banked" if game.down is None else f"banked {direction}"


def found_text(game: Game, view: View, text: str, card_name: CardName = card_name) -> str:
    """Return the places of the searched cards in one line: `7♣ in column 3 under 2; 7♣ banked up`."""
    cards = cards_matching(text)
    if not cards:
        return "Find a card by rank, suit or both, such as 7, h or 10d."
    places = [
        f"{card_name(found.card)} {_place(game, found)}"
        for found in known_places(view)
        if found.card in cards
    ]
    if not places:
        return "No such card can be seen."
    text = f"{'; '.join(places)}."
    seen = f"{len(places)} can be seen"
    while len(text) > LINE and places:
        places.pop()
        text = f"{seen}: {'; '.join(places)}; .."
    return text if places else f"{seen}."


def _place(game: Game, found: Found) -> str:
    if found.pile in (UP, DOWN):
        return banked_words(game, found.pile)
    where = "on" if found.pile in (WASTE, RESERVE) else "in"
    under = f" under {found.above}" if found.above else ""
    return f"{where} {pile_name(game, found.pile)}{under}"
