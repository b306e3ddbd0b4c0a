"""Cards named by rank, by suit or by both. Pure."""

import re
from functools import lru_cache
from typing import Final

from saratoga_rules.cards import PACK, RANKS, SUITS, Card, rank_name

_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RANK_WORDS: Final = {
    **{letter.lower(): letter for letter in RANKS},
    **{rank_name(number): letter for number, letter in enumerate(RANKS, start=1)},
    **dict(zip(_NUMBERS, RANKS[1:], strict=False)),
    "1": "A",
}
_SUIT_WORDS: Final = {
    word: letter
    for letter, name, signs in zip(
        SUITS, ("clubs", "spades", "hearts", "diamonds"), ("♣♧", "♠♤", "♥♡", "♦♢"), strict=True
    )
    for word in (letter.lower(), name, name[:-1], *signs)
}
_PLURALS: Final = {
    f"{word}{ending}": word for word in _RANK_WORDS if len(word) > 2 for ending in ("s", "es")
}
_SOUGHT: Final = re.compile(
    "(?P<rank>{ranks})?(?P<suit>{suits})?".format(
        ranks="|".join(sorted(_RANK_WORDS, key=len, reverse=True)),
        suits="|".join(sorted(_SUIT_WORDS, key=len, reverse=True)),
    )
)


@lru_cache(maxsize=1 << 8)
def cards_matching(text: str) -> tuple[Card, ...]:
    """Return the cards of a pack that match a rank, a suit or both; none for any other text.

    >>> cards_matching("queen of hearts"), cards_matching("10♦"), len(cards_matching("h"))
    (('QH',), ('TD',), 13)
    >>> cards_matching("kings"), cards_matching("x")
    (('KC', 'KS', 'KH', 'KD'), ())
    """
    plain = re.sub(r"\s+(of\s+)?", "", text.strip().lower())
    found = _SOUGHT.fullmatch(_PLURALS.get(plain, plain))
    if found is None or not plain:
        return ()
    rank, suit = _RANK_WORDS.get(found["rank"] or ""), _SUIT_WORDS.get(found["suit"] or "")
    return tuple(card for card in PACK if rank in (None, card[0]) and suit in (None, card[1]))
