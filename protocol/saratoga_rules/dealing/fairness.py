"""The fair deal: commitment, nonce hashes and deal key.

The server draws a seed and publishes its commitment before anyone can be *ready*. Every racer
sends the hash of a nonce of their own with *ready*. When the racers are fixed they reveal the
nonces. Seed and nonces together make the key from which the pack is shuffled: the server can no
longer change its seed, and no racer knew the others' nonces.

Any language with SHA-256 and HMAC-SHA-256 can repeat this. The *cap* is the time limit in minutes, 0 for none.
All text is ASCII, all hashes are lower-case hexadecimal. A *field* is the length of its bytes as
a 4-byte big-endian number, followed by the bytes; a number is written in decimal digits first.

    commitment = SHA-256( field("saratoga commitment 1")
                          field(game) field(rules version) field(table) field(race number)
                          field(cap) field("yes" or "no": public) field(seed) )

    nonce hash = SHA-256( nonce )

    deal key   = HMAC-SHA-256( key = seed,
                               message = field("saratoga deal key 1")
                                         field(table "/" race number)
                                         field(number of racers)
                                         then, for each racer by ascending player id,
                                         field(player id) field(nonce) )

A seed has 32 bytes, and a nonce 16.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Final

COMMITMENT_TAG: Final = b"saratoga commitment 1"
DEAL_KEY_TAG: Final = b"saratoga deal key 1"

SEED_BYTES: Final = 32
NONCE_BYTES: Final = 16


def commitment(
    seed: bytes, game: str, rules_version: int, table: str, race: int, *, cap: int, public: bool
) -> str:
    """Return the hash that fixes `seed` for one race with these settings at one table without revealing it."""
    fields = (
        COMMITMENT_TAG,
        game.encode(),
        _decimal(rules_version),
        table.encode(),
        _decimal(race),
        _decimal(cap),
        b"yes" if public else b"no",
        _checked(seed, SEED_BYTES),
    )
    return hashlib.sha256(_joined(fields)).hexdigest()


def nonce_hash(nonce: bytes) -> str:
    """Return the hash that fixes a racer's nonce without revealing it."""
    return hashlib.sha256(_checked(nonce, NONCE_BYTES)).hexdigest()


def deal_key(seed: bytes, race_id: str, nonces: Mapping[str, bytes]) -> bytes:
    """Return the 32 bytes from which the pack is shuffled; `nonces` are the racers', by player id."""
    fields = [DEAL_KEY_TAG, race_id.encode(), _decimal(len(nonces))]
    for player in sorted(nonces):
        fields += [player.encode(), _checked(nonces[player], NONCE_BYTES)]
    return hmac.digest(_checked(seed, SEED_BYTES), _joined(fields), "sha256")


def _joined(fields: Iterable[bytes]) -> bytes:
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


def _decimal(number: int) -> bytes:
    return str(number).encode()


def _checked(secret: bytes, length: int) -> bytes:
    if len(secret) != length:
        raise ValueError(f"a secret of {length} bytes is needed, not one of {len(secret)}")
    return secret
