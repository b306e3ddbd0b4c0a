"""Where a card is, as far as its player may know. Pure."""

from collections.abc import Iterator
from typing import Final

from saratoga_client.hand.words import pile_name
from saratoga_client.lines.tongue import LETTERS, Tongue, counted
from saratoga_rules.cards import PACK, RANKS, SUITS, Card, card_of, rank, suit
from saratoga_rules.foundations import rank_at
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, RESERVE, WASTE
from saratoga_rules.views import View

_SUIT_WORDS: Final = {
    **{letter.lower(): letter for letter in SUITS},
    "clubs": "C",
    "diamonds": "D",
    "hearts": "H",
    "spades": "S",
    "club": "C",
    "diamond": "D",
    "heart": "H",
    "spade": "S",
    "♣": "C",
    "♦": "D",
    "♥": "H",
    "♠": "S",
}
_RANK_WORDS: Final = {
    **{letter.lower(): letter for letter in RANKS},
    "1": "A",
    "10": "T",
    "ten": "T",
    "ace": "A",
    "jack": "J",
    "queen": "Q",
    "king": "K",
}


def sought(words: str) -> tuple[Card, ...]:
    """The cards that somebody asks for: `7C`, `10 of clubs`, or `7` for all four.

    Raises `ValueError` with a sentence.
    """
    text = words.strip().lower().replace(" of ", " ")
    first, _, second = text.partition(" ")
    if not second and first not in _RANK_WORDS:
        first, second = first[:-1], first[-1:]
    if first not in _RANK_WORDS or (second and second not in _SUIT_WORDS):
        raise ValueError(f"{words!r} is no card. Say such as: where 7C, where 10H, where K.")
    suits = _SUIT_WORDS[second] if second else SUITS
    letter = _RANK_WORDS[first]
    return tuple(card for card in PACK if card[0] == letter and card[1] in suits)


def where_lines(game: Game, view: View, card: Card, tongue: Tongue = LETTERS) -> Iterator[str]:
    """A line for every copy of the card: a game of two packs has two."""
    found = [*_found(game, view, card, tongue)]
    for place in found:
        yield f"where {tongue.card(card)}: {place}"
    unseen = game.packs - len(found)
    if unseen > 0:
        copy = "" if unseen == game.packs else "another " if unseen == 1 else f"{unseen} more "
        hidden = "in the stock or deep in the reserve" if len(view.reserve) > 1 else "in the stock"
        yield f"where {tongue.card(card)}: {copy}face down, {hidden}"


def _found(game: Game, view: View, card: Card, tongue: Tongue) -> Iterator[str]:
    piles = [(WASTE, view.waste), (RESERVE, view.reserve)]
    piles += list(zip(COLUMN_NAMES, view.columns, strict=False))
    for name, pile in piles:
        for index, lying in enumerate(pile):
            if lying == card:
                yield f"{pile_name(game, name)}, {_depth(pile, index, tongue)}"
    yield from _banked(game, view, card)


def _depth(pile: tuple[Card, ...], index: int, tongue: Tongue) -> str:
    above = len(pile) - 1 - index
    if not above:
        return "on top"
    return f"under {counted(above)}, next above it {tongue.card(pile[index + 1])}"


def _banked(game: Game, view: View, card: Card) -> Iterator[str]:
    copies = len(view.up) // len(SUITS)
    at = SUITS.index(suit(card)) * copies
    for height in view.up[at : at + copies]:
        if any(
            card_of(rank_at(view.base, level), suit(card)) == card for level in range(1, height + 1)
        ):
            top = ", on top" if rank_at(view.base, height) == rank(card) else ""
            yield f"banked{_way(game, 'up')}{top}"
    copies = len(view.down) // len(SUITS)
    at = SUITS.index(suit(card)) * copies
    for height in view.down[at : at + copies]:
        if height and rank(card) >= 14 - height:
            top = ", on top" if rank(card) == 14 - height else ""
            yield f"banked{_way(game, 'down')}{top}"


def _way(game: Game, foundation: str) -> str:
    """Which foundation it is, in a game where a suit has one of either kind."""
    return "" if game.down is None else f" {foundation}"
