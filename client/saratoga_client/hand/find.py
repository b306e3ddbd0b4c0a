"""Finding cards: what a player asks for, and where it lies as far as it can be seen."""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from saratoga_client.hand.words import LINE, CardName, card_name, pile_name
from saratoga_rules.cards import HIDDEN, RANKS, SUITS, Card, card_of
from saratoga_rules.foundations import rank_at
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, RESERVE, WASTE
from saratoga_rules.views import View

Matcher: TypeAlias = Callable[[Card], bool]
"""Whether a card is one of those asked for; a hidden card never is."""

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
_SUIT_WORDS: Final = {
    word: letter
    for letter, name, signs in zip(
        SUITS, ("clubs", "spades", "hearts", "diamonds"), ("♣♧", "♠♤", "♥♡", "♦♢"), strict=True
    )
    for word in (letter.lower(), name, name[:-1], *signs)
}
_SOUGHT: Final = re.compile(
    "(?P<rank>{ranks})?(?P<suit>{suits})?".format(
        ranks="|".join(sorted(_RANK_WORDS, key=len, reverse=True)),
        suits="|".join(sorted(_SUIT_WORDS, key=len, reverse=True)),
    )
)


def find(text: str) -> Matcher:
    """A rank, a suit or a card: `7`, `10`, `queen`, `h`, `♦`, `7h`, `10 of clubs`.

    What is none of these finds nothing.
    """
    plain = re.sub(r"\s+(of\s+)?", "", text.strip().lower())
    plain = re.sub(r"([a-z0-9]+?)s$", r"\1", plain) if plain in _PLURALS else plain
    found = _SOUGHT.fullmatch(plain)
    if found is None or not plain:
        return _nothing
    rank, suit = _RANK_WORDS.get(found["rank"] or ""), _SUIT_WORDS.get(found["suit"] or "")
    return lambda card: (
        card != HIDDEN and (rank is None or card[0] == rank) and (suit is None or card[1] == suit)
    )


_PLURALS: Final = frozenset(f"{word}s" for word in _RANK_WORDS if len(word) > 2)


def _nothing(_card: Card) -> bool:
    return False


def found_words(game: Game, view: View, text: str, card_name: CardName = card_name) -> str:
    """Where the cards asked for lie, in a line: `7♣: column 3 under 2 cards, banked up`."""
    matcher = find(text)
    places = [f"{card_name(card)} {place}" for card, place in _places(game, view) if matcher(card)]
    if matcher is _nothing or not any(map(matcher, _ALL)):
        return "Find a card by rank, suit or both, such as 7, h or 10d."
    if not places:
        return "No such card can be seen."
    told = f"{'; '.join(places)}."
    found = f"{len(places)} can be seen"
    while len(told) > LINE and places:
        places.pop()
        told = f"{found}: {'; '.join(places)}; .."
    return told if places else f"{found}."


_ALL: Final = tuple(card_of(rank, letter) for letter in SUITS for rank in range(1, 14))


def _places(game: Game, view: View) -> Iterator[tuple[Card, str]]:
    """Every card that can be seen and is not buried on a foundation, with its place."""
    piles = [(RESERVE, view.reserve[-1:]), (WASTE, view.waste)]
    piles += zip(COLUMN_NAMES, view.columns, strict=False)
    for name, pile in piles:
        for index, card in enumerate(pile):
            above = len(pile) - 1 - index
            depth = f" under {above}" if above else ""
            yield card, f"{pile_name(game, name)}{depth}"
    for heights, direction in ((view.up, "up"), (view.down, "down")):
        banked = "banked" if game.down is None else f"banked {direction}"
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            for level in range(1, height + 1):
                rank = rank_at(view.base, level) if direction == "up" else 14 - level
                yield card_of(rank, SUITS[index // copies]), banked
