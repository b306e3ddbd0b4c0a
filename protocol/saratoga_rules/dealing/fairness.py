"""The fair deal: commitment, nonce hashes and deal key.

The server draws a seed and publishes its commitment before anyone can be *ready*. Every racer
sends the hash of a nonce of their own with *ready*. When the racers are fixed they reveal the
nonces. Seed and nonces together make the key from which the pack is shuffled: the server can no
longer change its seed, and no racer knew the others' nonces.

protocol/FAIRNESS.md defines commitment, nonce hash, deal key and *field*, and has test vectors.
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
