"""The shuffle (Fisher-Yates), version 1: protocol/FAIRNESS.md defines it so that any language can repeat it."""

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
