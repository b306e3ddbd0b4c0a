"""The shuffle, written out, so that any language can repeat it: version 1.

The key feeds HMAC-SHA-256 with a counter:

    block(n) = HMAC-SHA-256( key, "saratoga shuffle 1" + n as an 8-byte big-endian number )

for n = 0, 1, 2, ..; the blocks one after another are a stream of bytes. A number below `bound` is
the next byte of the stream that is below the greatest multiple of `bound` not above 256, modulo
`bound`. Other bytes are discarded, so that no number is favoured.

The deck before the shuffle is pack after pack, each clubs, spades, hearts, diamonds from ace to
king. Then, for i from the last index down to 1, swap the cards at i and at a number below i + 1
(Fisher-Yates). The card at index 0 is dealt first.
"""

import hashlib
import hmac
from collections.abc import Iterator
from itertools import count
from typing import Final

from saratoga_rules.cards import PACK, Card

_TAG: Final = b"saratoga shuffle 1"


def shuffled_deck(packs: int, key: bytes) -> tuple[Card, ...]:
    """Return one to four packs shuffled together; the card dealt first comes first."""
    deck = list(PACK * packs)
    stream = _stream(key)
    for last in range(len(deck) - 1, 0, -1):
        other = _below(last + 1, stream)
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)


def _stream(key: bytes) -> Iterator[int]:
    for number in count():
        yield from hmac.digest(key, _TAG + number.to_bytes(8, "big"), hashlib.sha256)


def _below(bound: int, stream: Iterator[int]) -> int:
    # bytes at the end of the range would favour low numbers
    fair = 256 - 256 % bound
    return next(byte for byte in stream if byte < fair) % bound
