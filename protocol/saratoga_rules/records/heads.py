"""The heads of a racer's log: a chain of hashes by which a log is fixed while it is still secret.

A server shows a head with every count that others see. Afterwards every head that was shown must be
a head of the log in the record, so no entry before it can be changed any more. protocol/FAIRNESS.md
defines the heads. The head after an entry is known before the entry has a time, because it covers
those of the entry before.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from saratoga_rules.records.record import LogLine

TAG: Final = b"saratoga head 1"
STUCK: Final = "stuck"
SHOWN_BYTES: Final = 8


def first_head(key: bytes, race_id: str, player: str) -> bytes:
    """Return the head before the first entry; `key` is the race's deal key."""
    return _hash(key, TAG, race_id.encode(), player.encode())


def next_head(key: bytes, head: bytes, at: int, number: int, text: str) -> bytes:
    """Return the head after the entry `text`; `head`, `at` and `number` are those of the entry before it."""
    if text == STUCK:  # it may be stored together with its move, before that has a time
        return _hash(key, head, b"", b"", text.encode())
    return _hash(key, head, b"%d" % at, b"%d" % number, text.encode())


def shown(head: bytes) -> str:
    """Return the part of a head that is shown, as 16 hex digits."""
    return head[:SHOWN_BYTES].hex()


def heads(key: bytes, race_id: str, player: str, log: Iterable[LogLine]) -> list[str]:
    """Return the heads of a log as shown, from that before the first entry."""
    head = first_head(key, race_id, player)
    chain, at, number = [shown(head)], 0, 0
    for line in log:
        head = next_head(key, head, at, number, line.text)
        chain.append(shown(head))
        at, number = line.at, line.number
    return chain


def _hash(key: bytes, *fields: bytes) -> bytes:
    digest = blake2b(digest_size=32, key=key)
    for field in fields:
        digest.update(len(field).to_bytes(4, "big") + field)
    return digest.digest()
